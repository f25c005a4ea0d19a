#pragma once

#include <string>
#include <string_view>

namespace ballast {

// The substitutions that the word rules of mteval and Tercom are made of. Each returns a new text.

using CharacterTest = bool (*)(char32_t);

/// With a space on both sides of each character that is to stand `apart`.
std::u32string set_apart(std::u32string_view text, CharacterTest apart);

std::u32string without(std::u32string_view text, CharacterTest removed);

struct Replacement {
  std::u32string_view from, to;
};

std::u32string replaced(const std::u32string& text, const Replacement& replacement);

enum class Side { left, right };

/// Sets the `apart` character of each pair (first, second) apart. Like a regular expression's
/// substitution, pairs are found from the left and do not overlap.
struct PairRule {
  CharacterTest first, second;
  Side apart;

  std::u32string operator()(std::u32string_view text) const;
};

// The rules that mteval-v13a, Tercom and sacreBLEU's Chinese share for the punctuation of ASCII.

/// All but the apostrophe and what `stops_apart` sees to.
std::u32string plain_punctuation_apart(std::u32string_view text);

/// Full stop and comma stay between digits, a dash is set apart after a digit. What has no
/// neighbour at an end of the text stays there.
std::u32string stops_apart(std::u32string_view text);

/// `"`, `&`, `<` and `>` for what HTML writes instead of them, in this order: what one replacement
/// writes, a later one may read.
std::u32string entities_replaced(std::u32string text);

}  // namespace ballast
