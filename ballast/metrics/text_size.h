#pragma once

#include <cstdint>
#include <string_view>

namespace ballast {

/// How much text there is, whatever vocabulary cuts it: what a loss is divided by where models with
/// different vocabularies are compared.
struct TextSize {
  /// Longest stretches without white space (Python's `str.split`, `wc -w`). WikiText is published
  /// cut at spaces, so these are its tokens; the perplexities of Merity et al. 2016
  /// (arXiv:1609.07843) count a line's end as one more.
  int64_t words = 0;
  int64_t line_ends = 0;
  int64_t bytes = 0;  ///< in UTF-8, line ends too

  int64_t words_and_line_ends() const { return words + line_ends; }

  TextSize& operator+=(const TextSize& other);
  bool operator==(const TextSize&) const = default;
};

/// Of a text in UTF-8, whose line ends are "\n".
TextSize text_size(std::string_view text);

}  // namespace ballast
