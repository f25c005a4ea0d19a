#include "ballast/data/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace ballast {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::size_t characters = 0x144;

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, characters> byte{};  ///< -1 for none
};

constexpr Alphabet alphabet = [] {
  Alphabet made;
  made.byte.fill(-1);
  uint16_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const auto character = stands_for_itself(byte) ? static_cast<uint16_t>(byte) : next++;
    made.character[byte] = character;
    made.byte[character] = static_cast<int16_t>(byte);
  }
  return made;
}();

}  // namespace

std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    const uint16_t character = alphabet.character[static_cast<unsigned char>(each)];
    if (character < 0x80) {
      text += static_cast<char>(character);
    } else {
      text += static_cast<char>(0xC0 | character >> 6);
      text += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
  return text;
}

// No character of the alphabet takes more than two bytes of UTF-8.
std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t character = static_cast<unsigned char>(text[i]);
    if (character >= 0x80) {
      if ((character & 0xE0) != 0xC0 || ++i == text.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    }
    if (character >= characters || alphabet.byte[character] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet.byte[character]);
  }
  return bytes;
}

}  // namespace ballast
