#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// Cuts text at the matches of a regular expression in Perl's syntax, with Unicode's classes, as
/// byte-level vocabularies do before they join bytes. May be used in several threads at once.
class TextSplitter {
 public:
  /// Raises DataError for what is no expression.
  explicit TextSplitter(const std::string& pattern);

  /// The matches and what lies between them, in order: nothing is lost, also not what is no UTF-8.
  /// Raises DataError where the expression takes too long on the text.
  std::vector<std::string_view> operator()(std::string_view text) const;

 private:
  std::shared_ptr<const void> code_;
};

/// GPT-2's words (Radford et al. 2019, `encoder.py`).
inline constexpr const char* gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace ballast
