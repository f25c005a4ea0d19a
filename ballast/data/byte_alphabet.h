#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ballast {

/// Bytes in the printable alphabet of byte-level vocabularies: a byte that prints stands for
/// itself, the others for U+0100 and up, in order; a space is U+0120. Source: Radford et al. 2019,
/// GPT-2's `bytes_to_unicode`.
std::string in_byte_alphabet(std::string_view bytes);

/// The bytes that such a text stands for; nothing where it holds another character.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace ballast
