#pragma once

#include <toml++/toml.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// Where something was written: in a file, from line 1 and column 1, or in `--set a.b=c`, whose
/// line is its number among the overrides, from 1. Line 0 is a source as a whole.
struct Place {
  std::string source;
  int line = 0, column = 0;
};

/// `recipe.toml:14:3`, or the source alone for an override and where there is no line.
std::string text_of(const Place& place);

/// The place that a key or a value of a document was read from; its source is empty where toml++
/// does not know it.
Place place_of(const toml::source_region& region);

/// One mistake, told in one line.
struct Problem {
  Place place;
  std::string text;
};

/// `place: text` for all problems in the order of the text, one a line, then those of whole sources
/// and of `--set` in theirs.
std::string text_of(std::vector<Problem> problems);

/// A TOML text as the tree of toml++, whose keys and values know their places, and what is wrong
/// with it as TOML. It can be moved only, since a copied value forgets its place.
struct Document {
  explicit Document(std::string from) : source(std::move(from)) {}
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  std::string source;
  toml::table root;
  std::vector<Problem> problems;
};

/// Reads TOML 1.0. `source` is the file's name in messages. TOML readers stop at the first mistake
/// of syntax, so there is at most one problem, and `root` is empty then. A dotted name of more than
/// 250 parts is one, for the parser would run out of stack.
Document parse_document(std::string_view text, std::string source);

/// The document with every `train.steps=200` set, in order, before anything is read from it; what
/// is wrong with an override itself is added to its problems. The value is TOML (`200`, `true`,
/// `["a", "b"]`, `{ kind = "admin" }`), and what is not TOML is taken as text, so that
/// `model.norm=rms_norm` needs no quotes. Setting a choice as a whole (`model.residual=post_norm`)
/// drops the options the file gave it; `model.residual.kind=post_norm` keeps them. A name may have
/// up to 32 parts.
Document with_overrides(Document document, std::span<const std::string> overrides);

/// Remembers where every option was given, for messages that come after reading.
class Places {
 public:
  /// The document need not outlive it.
  explicit Places(const Document& document);

  /// The place of `model.heads`, else that of the nearest table around it, else the whole source.
  const Place& of(std::string_view name) const;

  /// True when the recipe or an override gives this option or table, by its dotted name.
  bool given(std::string_view name) const { return places_.contains(name); }

 private:
  void add(const std::string& owner, const toml::table& table);

  Place whole_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace ballast
