#define PCRE2_CODE_UNIT_WIDTH 8
#include "ballast/data/text_splitter.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>

#include "ballast/base/error.h"

namespace ballast {
namespace {

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

}  // namespace

TextSplitter::TextSplitter(const std::string& pattern) {
  constexpr uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* code =
      pcre2_compile(bytes_of(pattern), pattern.size(), options, &error, &place, nullptr);
  if (!code) {
    throw DataError(fmt::format("\"{}\" is no regular expression: {}, at byte {}", pattern,
                                message_of(error), place));
  }
  code_ = std::shared_ptr<const void>(code, [](const void* each) {
    pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(each)));
  });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot, it is interpreted
}

std::vector<std::string_view> TextSplitter::operator()(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const MatchData match(pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  std::vector<std::string_view> parts;
  std::size_t given = 0, from = 0;
  const auto give = [&](std::size_t end) {
    if (end > given) parts.push_back(text.substr(given, end - given));
    given = end;
  };
  while (from < text.size()) {
    const int found = pcre2_match(code, bytes_of(text), text.size(), from, 0, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw DataError(fmt::format("a text of {} bytes could not be cut into words: {}", text.size(),
                                  message_of(found)));
    }
    const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match.get());
    give(place[0]);
    give(place[1]);
    from = place[1] > from ? place[1] : from + 1;
  }
  give(text.size());
  return parts;
}

}  // namespace ballast
