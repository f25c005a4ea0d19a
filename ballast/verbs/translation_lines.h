#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ballast/data/text.h"
#include "ballast/data/tokenizer.h"
#include "ballast/decode/translate.h"
#include "ballast/store/file.h"
#include "ballast/verbs/flags.h"

namespace ballast {

/// What is said on standard error while lines are translated: how many are done, in one line that
/// is rewritten on a terminal and every half a minute otherwise, and remarks.
class TranslationNotes {
 public:
  /// Without `counts` only remarks are said.
  explicit TranslationNotes(bool counts);
  /// Ends a line that is still open.
  ~TranslationNotes();
  TranslationNotes(const TranslationNotes&) = delete;
  TranslationNotes& operator=(const TranslationNotes&) = delete;

  void count(int64_t lines);
  void remark(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  bool counts_, terminal_;
  bool open_ = false;
  Clock::time_point start_ = Clock::now(), next_;
};

/// Longest source in tokens, the end piece included, and what sets this limit.
struct SourceLimit {
  int64_t tokens = 0;
  const char* reason = "";
};

/// A line as a source.
struct Source {
  std::vector<int64_t> ids;  ///< with the end piece, cut to the limit
  size_t tokens = 0;         ///< what it has uncut
};

Source source_of(const Tokenizer& tokenizer, std::string_view line, int64_t limit);

/// Lines of a text as sources. Longer ones than the limit are cut, with a remark.
class SourceLines {
 public:
  SourceLines(const std::filesystem::path& file, const Tokenizer& tokenizer, SourceLimit limit,
              TranslationNotes& notes);

  std::optional<std::vector<int64_t>> next();
  bool ready() { return reader_.ready(); }

  /// The text of the first line that was read and not yet taken.
  std::string take_text();

 private:
  LineReader reader_;
  const Tokenizer& tokenizer_;
  SourceLimit limit_;
  TranslationNotes& notes_;
  std::deque<std::string> texts_;
};

/// How translations are written.
struct TranslationForm {
  TranslationFormat format = TranslationFormat::text;
  int64_t n_best = 1;
  bool scores = false;
};

/// A source's translations as they are written, with the ends of their lines. A source without a
/// hypothesis, which is a blank one, has one that is empty and certain.
std::string written(const TranslationForm& form, const Tokenizer& tokenizer, int64_t number,
                    const std::string& source, const Hypotheses& found);

}  // namespace ballast
