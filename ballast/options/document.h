#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ballast {

/// Where something was written: in a file, from line 1 and column 1, or (line 0) in `--set a.b=c`
/// or a file as a whole.
struct Place {
  std::string source;
  int line = 0, column = 0;
};

/// `recipe.toml:14:3`, or the source alone where there is no line.
std::string text_of(const Place& place);

/// One mistake, told in one line.
struct Problem {
  Place place;
  std::string text;
};

/// All problems in the order of the text, those of `--set` last, one a line.
std::string text_of(std::vector<Problem> problems);

struct TomlEntry;
using TomlTable = std::vector<TomlEntry>;

/// A date or a time, which no option takes.
struct TomlDate {};

/// A TOML value with its place.
struct TomlNode {
  using List = std::vector<TomlNode>;

  Place place;
  std::variant<bool, int64_t, double, std::string, TomlDate, List, TomlTable> value;
};

struct TomlEntry {
  std::string name;
  Place place;  ///< of the name
  TomlNode node;
};

/// The entry called `name`, or null.
TomlEntry* find_entry(TomlTable& table, std::string_view name);
const TomlEntry* find_entry(const TomlTable& table, std::string_view name);

/// A TOML text as a tree; what is wrong with it as TOML stands in `problems`.
struct Document {
  std::string source;
  TomlTable root;
  std::vector<Problem> problems;

  void report(Place place, std::string text);
};

/// Reads TOML 1.0. `source` is the file's name in messages. TOML readers stop at the first mistake
/// of syntax, so there is at most one problem.
Document parse_document(std::string_view text, std::string source);

}  // namespace ballast
