#include "ballast/metrics/tokenization.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include "ballast/base/error.h"
#include "ballast/metrics/morphemes.h"
#include "ballast/metrics/subwords.h"
#include "ballast/metrics/text_rules.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

bool in_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}
bool is_punctuation(char32_t c) { return in_category(c, U_GC_P_MASK); }
bool is_symbol(char32_t c) { return in_category(c, U_GC_S_MASK); }
bool is_not_number(char32_t c) { return !in_category(c, U_GC_N_MASK); }

std::u32string spaced_13a(std::u32string_view line) {
  std::u32string text(line);
  constexpr std::array<Replacement, 3> joins{{{U"<skipped>", U""}, {U"-\n", U""}, {U"\n", U" "}}};
  for (const Replacement& join : joins) text = replaced(text, join);
  return stops_apart(plain_punctuation_apart(U" " + entities_replaced(text) + U" "));
}

std::u32string spaced_international(std::u32string_view line) {
  std::u32string text = PairRule{is_not_number, is_punctuation, Side::right}(line);
  text = PairRule{is_punctuation, is_not_number, Side::left}(text);
  return set_apart(text, is_symbol);
}

// sacreBLEU's list. It writes the planes above the first with four hexadecimal digits and a fifth
// that it compares as a character of its own, so its ranges for them are U+2001 to U+2A6D and
// U+2F81 to U+2FA1.
struct Range {
  char32_t first, last;
};
constexpr std::array<Range, 22> chinese_ranges{
    {{0x3400, 0x4db5}, {0x4e00, 0x9fa5}, {0x9fa6, 0x9fbb}, {0xf900, 0xfa2d}, {0xfa30, 0xfa6a},
     {0xfa70, 0xfad9}, {0x2001, 0x2a6d}, {0x2f81, 0x2fa1}, {0xff00, 0xffef}, {0x2e80, 0x2eff},
     {0x3000, 0x303f}, {0x31c0, 0x31ef}, {0x2f00, 0x2fdf}, {0x2ff0, 0x2fff}, {0x3100, 0x312f},
     {0x31a0, 0x31bf}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe4f}, {0x2600, 0x26ff}, {0x2700, 0x27bf},
     {0x3200, 0x32ff}, {0x3300, 0x33ff}}};

bool is_chinese(char32_t c) {
  for (const auto& [first, last] : chinese_ranges) {
    if (c >= first && c <= last) return true;
  }
  return false;
}

std::u32string spaced_chinese(std::u32string_view line) {
  return stops_apart(plain_punctuation_apart(set_apart(trim(line), is_chinese)));
}

std::u32string spaced_characters(std::u32string_view line) {
  return set_apart(line, [](char32_t) { return true; });
}

std::u32string unchanged(std::u32string_view line) { return std::u32string(line); }

struct Row {
  BleuTokenization tokenization;
  LineTokenizer (*make)(BleuTokenization, const std::string& path);
};

template <std::u32string (*spaced)(std::u32string_view)>
LineTokenizer rules(BleuTokenization tokenization, const std::string& path) {
  const std::string name{enum_name(tokenization)};
  if (path.empty()) return {name, spaced};
  throw RecipeError(
      fmt::format("the tokenizer {} reads no file; give it without \":{}\"", name, path));
}

LineTokenizer japanese(BleuTokenization, const std::string& path) {
  return japanese_morphemes(path);
}

LineTokenizer korean(BleuTokenization, const std::string& path) { return korean_morphemes(path); }

LineTokenizer model(BleuTokenization tokenization, const std::string& path) {
  const std::string name{enum_name(tokenization)};
  const bool own = tokenization == BleuTokenization::sentencepiece;
  if (!path.empty()) return subwords(path, own ? "" : name);
  throw RecipeError(
      fmt::format("the tokenizer {} needs {} SentencePiece model, which is not part of Ballast; "
                  "give its file as "
                  "{}:FILE{}",
                  name, own ? "a" : "its", name,
                  own ? "" : " (where sacreBLEU has it, it is in ~/.sacrebleu/models)"));
}

constexpr std::array<Row, 11> rows{{{BleuTokenization::thirteen_a, rules<spaced_13a>},
                                    {BleuTokenization::international, rules<spaced_international>},
                                    {BleuTokenization::chinese, rules<spaced_chinese>},
                                    {BleuTokenization::character, rules<spaced_characters>},
                                    {BleuTokenization::none, rules<unchanged>},
                                    {BleuTokenization::japanese, japanese},
                                    {BleuTokenization::korean, korean},
                                    {BleuTokenization::flores101, model},
                                    {BleuTokenization::flores200, model},
                                    {BleuTokenization::spbleu_1k, model},
                                    {BleuTokenization::sentencepiece, model}}};

}  // namespace

LineTokenizer make_tokenizer(BleuTokenization tokenization, const std::string& path) {
  for (const Row& row : rows) {
    if (row.tokenization == tokenization) return row.make(tokenization, path);
  }
  throw RecipeError("no such tokenizer");
}

}  // namespace ballast
