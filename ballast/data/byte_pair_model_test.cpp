#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ballast/data/byte_alphabet.h"
#include "ballast/data/byte_pairs.h"
#include "ballast/data/masking.h"
#include "ballast/data/text_splitter.h"
#include "ballast/data/vocabulary_file.h"
#include "ballast/testing/refusal.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using testing::refusal;

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ids = std::vector<int64_t>;

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

/// GPT-2's files for the bytes (0 to 255), more pieces and an end piece behind them.
std::string vocabulary(const std::vector<std::string>& more) {
  std::string json = "{";
  int64_t id = 0;
  const auto add = [&](const std::string& piece) {
    const std::string mark = piece == "\"" || piece == "\\" ? "\\" : "";
    json += (id > 0 ? ",\"" : "\"") + mark + piece + "\":" + std::to_string(id);
    ++id;
  };
  for (const char byte : all_bytes()) add(in_byte_alphabet(std::string(1, byte)));
  for (const std::string& piece : more) add(piece);
  add("<|endoftext|>");
  return json + "}";
}

Tokenizer made(const std::vector<std::string>& more, const std::string& merges) {
  return Tokenizer::from_json(
      tokenizer_json_of(vocabulary(more), "vocab.json", merges, "merges.txt"), "made");
}

TEST(ByteAlphabet, GivesEveryByteACharacterThatPrints) {
  EXPECT_EQ(in_byte_alphabet("a b\n"), "a\u0120b\u010a");
  EXPECT_EQ(in_byte_alphabet("\u00e4"), "\u00c3\u00a4");
  EXPECT_EQ(from_byte_alphabet(in_byte_alphabet(all_bytes())), all_bytes());
  EXPECT_EQ(from_byte_alphabet("a b"), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("\u2581a"), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("\xc4"), std::nullopt);
}

TEST(TextSplitter, LosesNothing) {
  const TextSplitter words(gpt2_words);
  EXPECT_THAT(words("I'm  here,\n 42"), ElementsAre("I", "'m", " ", " here", ",", "\n", " 42"));
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_THAT(words("a\xff\xfe b"), ElementsAre("a", "\xff\xfe", " b"));
  EXPECT_THAT(TextSplitter("b")("abba"), ElementsAre("a", "b", "b", "a"));
  EXPECT_THAT(TextSplitter("x*")("axb"), ElementsAre("a", "x", "b"));
}

TEST(TextSplitter, RefusesWhatIsNoExpression) {
  EXPECT_THAT(refusal([] { TextSplitter("a(b"); }), HasSubstr("at byte 3"));
}

TEST(BytePairs, JoinTheFirstOfTheListFirst) {
  const Tokenizer tokenizer = made({"ab", "bc", "abc"}, "#version: 0.2\nb c\na b\na bc\n");
  EXPECT_THAT(tokenizer.encode("abc"), ElementsAre(258));       // bc, then a bc
  EXPECT_THAT(tokenizer.encode("aab"), ElementsAre('a', 256));  // no merge of a and ab
  EXPECT_THAT(tokenizer.encode("bcbc"), ElementsAre(257, 257));
}

TEST(BytePairs, OfALongWordAreJoinedFromTheLeft) {
  const Tokenizer tokenizer = made({"aa", "aaaa"}, "a a\naa aa\n");
  EXPECT_THAT(tokenizer.encode(std::string(4, 'a')), ElementsAre(257));
  EXPECT_THAT(tokenizer.encode(std::string(7, 'a')), ElementsAre(257, 256, 'a'));
  const auto ids = tokenizer.encode(std::string(40'000, 'a'));
  EXPECT_EQ(ids.size(), 10'000U);
  EXPECT_THAT(ids, Each(257));
}

TEST(BytePairs, HaveAnEndPieceThatBeginsToo) {
  const Tokenizer tokenizer = made({}, "");
  EXPECT_EQ(tokenizer.size(), 257);
  EXPECT_EQ(tokenizer.end_id(), 256);
  EXPECT_EQ(tokenizer.begin_id(), 256);
  EXPECT_EQ(tokenizer.pad_id(), -1);
  EXPECT_EQ(tokenizer.unknown_id(), -1);
  EXPECT_EQ(tokenizer.piece(256).kind, PieceKind::control);
  EXPECT_EQ(tokenizer.piece(' ').text, "\u0120");
  EXPECT_EQ(tokenizer.decode(Ids{'a', 256, 'b'}), "ab");
  EXPECT_EQ(tokenizer.encode("<|endoftext|>").size(), 13U);  // no text gives a special piece
}

TEST(BytePairs, ComeBackFromTheirBytes) {
  const Tokenizer tokenizer = made({"ab"}, "a b\n");
  const Tokenizer again = Tokenizer::from_json(tokenizer.serialized(), "again");
  EXPECT_EQ(again.encode("abba cab"), tokenizer.encode("abba cab"));
  EXPECT_EQ(again.serialized(), tokenizer.serialized());
}

TEST(BytePairs, KeepWhatHasNoNumberUnused) {
  const std::string text = vocabulary({});
  std::string far = text;
  far.replace(far.find("\":256}"), 6, "\":300}");
  const Tokenizer tokenizer =
      Tokenizer::from_json(tokenizer_json_of(far, "vocab.json", "", "merges.txt"), "far");
  EXPECT_EQ(tokenizer.size(), 301);
  EXPECT_EQ(tokenizer.end_id(), 300);
  EXPECT_EQ(tokenizer.piece(280).kind, PieceKind::unused);
  EXPECT_EQ(tokenizer.decode(Ids{280}), "");
}

TEST(BytePairs, SayWhereAWordBeginsForMasking) {
  const MaskableVocabulary found = maskable(made({"\u0120a"}, "\u0120 a\n"));
  EXPECT_TRUE(found.begins_word[256]);
  EXPECT_FALSE(found.begins_word['a']);
  EXPECT_EQ(found.mask, 258);
}

TEST(BytePairs, AreRefusedWhereTheyContradictThemselves) {
  EXPECT_THAT(refusal([] { made({}, "a b\n"); }), HasSubstr("merge 1, of \"a\" and \"b\""));
  EXPECT_THAT(refusal([] { made({"ab"}, "a b\nab\n"); }), HasSubstr("merges.txt: merge 2 is"));
  EXPECT_THAT(refusal([] { made({"\u2581a"}, ""); }), HasSubstr("kind = \"sentencepiece\""));
  std::string twice = vocabulary({});
  twice.replace(twice.find("\":256}"), 6, "\":255}");
  EXPECT_THAT(
      refusal([&] { Tokenizer::from_json(tokenizer_json_of(twice, "v", "", "m"), "twice"); }),
      HasSubstr("have the number 255"));
  EXPECT_THAT(refusal([] {
                Tokenizer::from_json(tokenizer_json_of(R"({"a":0,"</s>":1})", "v", "", "m"), "few");
              }),
              HasSubstr("255 of the 256 bytes have no piece"));
}

TEST(BytePairs, AreRefusedWhereTheirRulesAreNotKnown) {
  const auto refused = [](const std::string& json) {
    return refusal([&] { Tokenizer::from_json(json, "tokenizer.json"); });
  };
  EXPECT_THAT(refused("no json"), HasSubstr("tokenizer.json: is no JSON"));
  EXPECT_THAT(refused("{}"), HasSubstr("no model with pieces"));
  EXPECT_THAT(refused(R"({"model":{"type":"WordPiece","vocab":{}}})"), HasSubstr("WordPiece"));
  EXPECT_THAT(refused(R"({"model":{"vocab":{}},"pre_tokenizer":{"type":"Metaspace"}})"),
              HasSubstr("the pre-tokenizer \"Metaspace\"; known are ByteLevel, Digits"));
  EXPECT_THAT(refused(R"({"model":{"vocab":{}},"normalizer":{"type":"Prepend"}})"),
              HasSubstr("the normalizer \"Prepend\"; known are NFC"));
}

TEST(Bytes, AreTheirOwnPieces) {
  const Tokenizer tokenizer = byte_tokenizer();
  EXPECT_EQ(tokenizer.size(), 257);
  const auto ids = tokenizer.encode("a \u00e4\n");
  EXPECT_THAT(ids, ElementsAre('a', ' ', 0xc3, 0xa4, '\n'));
  EXPECT_EQ(tokenizer.decode(ids), "a \u00e4\n");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(all_bytes())), all_bytes());
}

TEST(BytePairFiles, AreAVocabularyWithItsMergesOrOneFile) {
  const TemporaryDirectory folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return folder.path() / name;
  };
  const auto pieces = write("vocab.json", vocabulary({"ab"}));
  EXPECT_THAT(refusal([&] { read_byte_pairs(pieces); }), HasSubstr("merges.txt"));
  write("merges.txt", "#version: 0.2\r\na b\r\n");
  const Tokenizer tokenizer = read_byte_pairs(pieces);
  EXPECT_THAT(tokenizer.encode("ab"), ElementsAre(256));
  const auto one = write("tokenizer.json", tokenizer.serialized());
  EXPECT_THAT(read_byte_pairs(one).encode("ab"), ElementsAre(256));
  EXPECT_THAT(refusal([&] { read_byte_pairs(one, "merges.txt"); }), HasSubstr("leave merges out"));
  const auto other = write("other.txt", "");
  EXPECT_THAT(read_byte_pairs(pieces, other).encode("ab"), ElementsAre('a', 'b'));
}

}  // namespace
}  // namespace ballast
