#include "tools/clean_text.h"

#include <libxml/HTMLparser.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <charconv>
#include <optional>
#include <string>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr UChar32 kSoftHyphen = 0x00AD;

std::optional<UChar32> number_entity(std::string_view digits) {
  int base = 10;
  if (digits.starts_with('x') || digits.starts_with('X')) {
    base = 16;
    digits.remove_prefix(1);
  }
  UChar32 value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || value <= 0 || value > 0x10FFFF || U_IS_SURROGATE(value)) return {};
  return value;
}

std::optional<UChar32> entity(const std::string& name) {
  if (name.starts_with('#')) return number_entity(std::string_view(name).substr(1));
  const auto* found = htmlEntityLookup(reinterpret_cast<const xmlChar*>(name.c_str()));
  if (!found) return {};
  return static_cast<UChar32>(found->value);
}

icu::UnicodeString resolved(const icu::UnicodeString& text) {
  icu::UnicodeString out;
  int32_t from = 0;
  for (int32_t at = text.indexOf(u'&'); at >= 0; at = text.indexOf(u'&', at + 1)) {
    constexpr int32_t kLongestEntity = 10;
    int32_t end = text.indexOf(u';', at, kLongestEntity);
    if (end < 0) continue;
    std::string name;
    text.tempSubStringBetween(at + 1, end).toUTF8String(name);
    auto character = entity(name);
    if (!character) continue;
    out.append(text, from, at - from).append(*character);
    from = end + 1;
    at = end;
  }
  return out.append(text, from, text.length() - from);
}

icu::UnicodeString single_spaced(const icu::UnicodeString& text) {
  icu::UnicodeString out;
  bool space = false;
  for (int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) {
    UChar32 character = text.char32At(at);
    if (character == kSoftHyphen) continue;
    if (u_isUWhiteSpace(character)) {
      space = true;
      continue;
    }
    if (space && !out.isEmpty()) out.append(u' ');
    space = false;
    out.append(character);
  }
  return out;
}

}  // namespace

icu::UnicodeString clean_text(std::string_view utf8) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfc = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status))
    throw DataError(std::string("ICU has no NFC data: ") + u_errorName(status));
  auto text = icu::UnicodeString::fromUTF8({utf8.data(), static_cast<int32_t>(utf8.size())});
  auto normal = nfc->normalize(single_spaced(resolved(text)), status);
  if (U_FAILURE(status)) throw DataError(std::string("NFC failed: ") + u_errorName(status));
  return normal;
}

}  // namespace ballast
