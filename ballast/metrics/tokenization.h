#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// How BLEU cuts a line into words.
enum class BleuTokenization {
  thirteen_a,     ///< mteval-v13a of WMT: punctuation of ASCII, a few HTML entities
  international,  ///< mteval-v14: Unicode's punctuation and symbols
  character,      ///< every character that is not white space is a word
  none,           ///< words are separated by white space
};

template <>
struct EnumNames<BleuTokenization> {
  static constexpr std::array<std::pair<std::string_view, BleuTokenization>, 4> value{
      {{"13a", BleuTokenization::thirteen_a},
       {"intl", BleuTokenization::international},
       {"char", BleuTokenization::character},
       {"none", BleuTokenization::none}}};
};

/// The line with white space wherever a word ends: split it to get the words.
std::u32string tokenize(std::u32string_view line, BleuTokenization tokenization);

}  // namespace ballast
