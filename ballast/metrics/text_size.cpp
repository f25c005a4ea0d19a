#include "ballast/metrics/text_size.h"

#include <algorithm>

#include "ballast/metrics/unicode.h"

namespace ballast {

TextSize& TextSize::operator+=(const TextSize& other) {
  words += other.words;
  line_ends += other.line_ends;
  bytes += other.bytes;
  return *this;
}

TextSize text_size(std::string_view text) {
  return {.words = static_cast<int64_t>(split_words(code_points(text)).size()),
          .line_ends = std::ranges::count(text, '\n'),
          .bytes = static_cast<int64_t>(text.size())};
}

}  // namespace ballast
