#include "ballast/data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <thread>

#include "ballast/base/error.h"
#include "ballast/testing/refusal.h"

namespace ballast {
namespace {

using testing::refusal;

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Sentences of words from a small alphabet (c a t d o g h e s), which has no capital letters.
std::vector<std::string> sentences() {
  const std::vector<std::string> words{"the", "cat", "dog", "sees", "that", "goat", "codes", "?."};
  std::vector<std::string> made;
  for (std::size_t i = 0; i < 400; ++i) {
    made.push_back(words[i % 7] + " " + words[(i / 7) % 8] + " " + words[(i * i) % 7]);
  }
  return made;
}

Tokenizer train(Bpe options = {.vocabulary_size = 40}) {
  if (options.byte_fallback) options.vocabulary_size += 256;
  return Tokenizer::train(sentences(), options);
}

Tokenizer train(const LearnedChoice& options) { return Tokenizer::train(sentences(), options); }

/// Every kind that is learned, with this number of pieces.
std::vector<LearnedChoice> learned(int64_t size) {
  return {Bpe{.vocabulary_size = size}, Unigram{.vocabulary_size = size},
          Characters{.vocabulary_size = size}};
}

std::string through(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text));
}

TEST(Tokenizer, LivesInOneProcessWithTorch) {
  const auto sum = torch::ones({4, 4}).matmul(torch::ones({4, 4})).sum().item<double>();
  EXPECT_EQ(through(train(), "the cat sees"), "the cat sees");
  EXPECT_EQ(sum, 64);
}

TEST(Tokenizer, GivesSpecialPiecesFixedIds) {
  const Tokenizer tokenizer = train();
  EXPECT_EQ(tokenizer.size(), 40);
  EXPECT_EQ(tokenizer.pad_id(), 0);
  EXPECT_EQ(tokenizer.unknown_id(), 1);
  EXPECT_EQ(tokenizer.begin_id(), 2);
  EXPECT_EQ(tokenizer.end_id(), 3);
  EXPECT_EQ(tokenizer.piece(3).text, "</s>");
  EXPECT_EQ(tokenizer.piece(3).kind, PieceKind::control);
  EXPECT_EQ(tokenizer.piece(1).kind, PieceKind::unknown);
  EXPECT_EQ(tokenizer.piece(4).kind, PieceKind::normal);
}

// C40
TEST(Tokenizer, JoinsAndStripsSpaces) {
  const Tokenizer tokenizer = train();
  EXPECT_EQ(through(tokenizer, "the  cat   dog "), "the cat dog");
  EXPECT_EQ(through(tokenizer, "the\tcat\u00a0dog"), "the cat dog");
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
  EXPECT_THAT(tokenizer.encode(" \t "), IsEmpty());
}

// C40
TEST(Tokenizer, ReplacesCompatibilityCharacters) {
  EXPECT_EQ(through(train(), "\uFE30"), "..");
  EXPECT_EQ(through(train({.vocabulary_size = 40, .byte_fallback = true}), "\u2047"), "??");
}

// C40
TEST(Tokenizer, MarksUnknownCharactersUnlessItSpellsThemInBytes) {
  EXPECT_EQ(through(train(), "the Y"), "the  \u2047 ");
  EXPECT_EQ(through(train({.vocabulary_size = 40, .byte_fallback = true}), "the Y"), "the Y");
}

// C40
TEST(Tokenizer, KeepsSpacesUnderTheIdentityRule) {
  const Tokenizer tokenizer = train({.vocabulary_size = 40,
                                     .normalization = Normalization::identity,
                                     .remove_extra_spaces = false});
  EXPECT_EQ(through(tokenizer, "the  cat   dog "), "the  cat   dog ");
}

// C41
TEST(Tokenizer, TakesInvalidUtf8WithReplacementCharacters) {
  EXPECT_EQ(through(train({.vocabulary_size = 40, .byte_fallback = true}), "\xff\xfe"),
            "\uFFFD\uFFFD");
  EXPECT_THAT(train().encode("\xff\xfe"), Not(IsEmpty()));
}

// C41
TEST(Tokenizer, KeepsAnEmojiOnlyWithByteFallback) {
  EXPECT_EQ(through(train({.vocabulary_size = 40, .byte_fallback = true}), "cat \U0001F600"),
            "cat \U0001F600");
  EXPECT_EQ(through(train(), "cat \U0001F600"), "cat  \u2047 ");
}

TEST(Tokenizer, LearnsTheSameModelEveryTime) {
  for (const LearnedChoice& options : learned(25)) {
    EXPECT_EQ(train(options).serialized(), train(options).serialized()) << info_of(options).name;
  }
}

TEST(Tokenizer, PrintsNothing) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  train(Unigram{.vocabulary_size = 25});
  refusal([] { train({.vocabulary_size = 100'000}); });
  refusal([] { Tokenizer::from_model("no model"); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(Tokenizer, NamesTheLargestVocabularyThatTheTextGives) {
  const auto check = [](auto options) {
    options.vocabulary_size = 100'000;
    const std::string message = refusal([&] { train(LearnedChoice(options)); });
    const auto at = message.find("at most ");
    ASSERT_NE(at, std::string::npos) << message;
    options.vocabulary_size = std::stoll(message.substr(at + 8));
    EXPECT_EQ(train(LearnedChoice(options)).size(), options.vocabulary_size);
  };
  check(Bpe{});
  check(Unigram{});
}

TEST(Tokenizer, RefusesAVocabularyBelowTheNumberOfCharacters) {
  EXPECT_THAT(refusal([] { train({.vocabulary_size = 8}); }), HasSubstr("special pieces are 16"));
  EXPECT_THAT(refusal([] { Tokenizer::train({}, Bpe{}); }), HasSubstr("no sentence"));
  EXPECT_THAT(refusal([] {
                Tokenizer::train(std::vector<std::string>{"", " "}, Bpe{});
              }),
              HasSubstr("at most 4 pieces"));
}

// The alphabet is c a t d o g h e s ? . and the mark for a space; four pieces are special.
TEST(Tokenizer, GivesEveryCharacterAPieceAndNoMore) {
  EXPECT_EQ(train(Characters{.vocabulary_size = 1000}).size(), 16);
}

TEST(Tokenizer, ComesBackFromItsBytes) {
  const Tokenizer tokenizer = train();
  const Tokenizer again = Tokenizer::from_model(tokenizer.serialized());
  EXPECT_EQ(again.encode("the goat codes"), tokenizer.encode("the goat codes"));
  EXPECT_EQ(again.serialized(), tokenizer.serialized());
}

TEST(Tokenizer, RefusesBytesThatAreNoModel) {
  const std::string model = train().serialized();
  for (const std::string& bad : {std::string(), std::string("no model"), std::string(100, '\xff'),
                                 model.substr(0, model.size() / 2)}) {
    EXPECT_THAT(refusal([&] { Tokenizer::from_model(bad); }), HasSubstr("no SentencePiece model"))
        << bad.size();
  }
}

/// A model whose special piece has another name, so that it lacks the usual one.
std::string without(const std::string& special) {
  std::string model = train().serialized();
  return model.replace(model.find(special), 2, "<q");
}

TEST(Tokenizer, OfAForeignModelBeginsWithThePadPieceWhereItHasNoOther) {
  const Tokenizer foreign = Tokenizer::from_model(without("<s>"));
  EXPECT_EQ(foreign.begin_id(), foreign.pad_id());
  EXPECT_EQ(foreign.end_id(), 3);
  EXPECT_THAT(refusal([] { Tokenizer::from_model(without("</s>")); }),
              HasSubstr("end piece -1 (-1 is none)"));
}

TEST(Tokenizer, OfBothSidesIsOneWhereItIsACopy) {
  const Tokenizer one = train(), other = train();
  EXPECT_TRUE(Tokenizers(one).joint());
  EXPECT_TRUE(Tokenizers(one, one).joint());
  EXPECT_FALSE(Tokenizers(one, other).joint());
}

// ZWNJ is a letter's form in Persian; a zero-width space is nothing.
TEST(Tokenizer, KeepsZwnjUnderEveryRuleButThoseOfNmt) {
  const auto through_rule = [](Normalization rule, const std::string& text) {
    return through(train({.vocabulary_size = 40, .byte_fallback = true, .normalization = rule}),
                   text);
  };
  for (const Normalization rule : {Normalization::nmt_nfkc, Normalization::nmt_nfkc_cf}) {
    EXPECT_EQ(through_rule(rule, "at\u200cthe"), "at the");
  }
  for (const Normalization rule :
       {Normalization::nfkc, Normalization::nfkc_cf, Normalization::identity}) {
    EXPECT_EQ(through_rule(rule, "at\u200cthe"), "at\u200cthe");
  }
}

TEST(Tokenizer, RefusesIdsBeyondTheVocabulary) {
  const Tokenizer tokenizer = train();
  for (const int64_t id : {-1L, 40L, 1L << 32}) {
    const std::vector<int64_t> ids{id};
    EXPECT_THAT(refusal([&] { tokenizer.decode(ids); }), HasSubstr("expected 0 to 39"));
    EXPECT_THAT(refusal([&] { tokenizer.piece(id); }), HasSubstr("expected 0 to 39"));
  }
}

TEST(Tokenizer, SkipsSpecialPiecesInText) {
  const Tokenizer tokenizer = train();
  std::vector<int64_t> ids = tokenizer.encode("the dog");
  ids.insert(ids.begin(), {tokenizer.begin_id(), tokenizer.pad_id()});
  ids.push_back(tokenizer.end_id());
  EXPECT_EQ(tokenizer.decode(ids), "the dog");
}

TEST(Tokenizer, EncodesInSeveralThreadsAtOnce) {
  const Tokenizer tokenizer = train();
  const auto expected = tokenizer.encode("the goat sees that dog");
  std::vector<int> equal(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int& count : equal) {
      threads.emplace_back([&count, &tokenizer, &expected] {
        for (int i = 0; i < 500; ++i)
          count += tokenizer.encode("the goat sees that dog") == expected;
      });
    }
  }
  EXPECT_THAT(equal, Each(500));
}

}  // namespace
}  // namespace ballast
