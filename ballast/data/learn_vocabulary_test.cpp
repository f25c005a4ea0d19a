#include "ballast/data/learn_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/data/tokenizer.h"
#include "ballast/testing/refusal.h"

namespace ballast {
namespace {

using testing::refusal;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string times(std::string_view text, std::size_t count) {
  std::string made;
  for (std::size_t i = 0; i < count; ++i) made += text;
  return made;
}

/// Sentences of every letter, of words that share their parts, so that 50 pieces can be learned.
std::vector<std::string> sentences(const std::string& last) {
  const std::vector<std::string> parts{"the",  "quick", "brown", "fox",  "jump", "over",
                                       "lazy", "dog",   "ing",   "back", "ward", "un"};
  std::vector<std::string> made;
  for (std::size_t i = 0; i < 600; ++i) {
    made.push_back(parts[i % 12] + parts[i / 12 % 12] + " " + parts[i * i % 11] + parts[i % 7] +
                   " " + parts[i / 5 % 12]);
  }
  made.push_back(last);
  return made;
}

std::vector<LearnedChoice> learned(int64_t size) {
  return {Bpe{.vocabulary_size = size}, Unigram{.vocabulary_size = size},
          Characters{.vocabulary_size = size}};
}

TEST(LearningParts, GiveAnOrdinaryLineAsItIs) {
  const std::string line = times("word ", longest_word / 5);
  EXPECT_THAT(learning_parts(line), ElementsAre(line));
  EXPECT_THAT(learning_parts(""), ElementsAre(""));
  EXPECT_FALSE(has_overlong_word(times("word ", 100'000)));
  EXPECT_FALSE(has_overlong_word(times("x", longest_word)));
  EXPECT_TRUE(has_overlong_word("a " + times("x", longest_word + 1)));
  EXPECT_TRUE(has_overlong_word(times("x", longest_word + 1) + " a"));
}

TEST(LearningParts, CutAtSpacesAndOtherwiseBetweenCharacters) {
  const std::string words = times("one two three ", 3000);
  std::string joined;
  for (const auto part : learning_parts(words)) {
    EXPECT_LE(part.size(), longest_word);
    EXPECT_TRUE(part.substr(part.rfind(' ') + 1) != "o");
    joined += part;
  }
  EXPECT_EQ(joined.substr(0, 100), words.substr(0, 100));
  std::string chinese;
  for (int i = 0; i < 20'000; ++i) chinese += i % 7 == i % 11 ? "一" : "二";
  std::string again;
  for (const auto part : learning_parts(chinese)) {
    EXPECT_LE(part.size(), longest_word);
    EXPECT_TRUE(is_valid_utf8(part));
    again += part;
  }
  EXPECT_EQ(again, chinese);
}

TEST(LearningParts, GiveEqualPartsOnce) {
  EXPECT_EQ(learning_parts(times("-", 20 * longest_word)).size(), 1U);
}

// D02: SentencePiece 0.1.97 ends its process at a word of 65,536 characters.
TEST(LearnVocabulary, OutlivesWordsThatEndSentencePiece) {
  const std::string base64 = [] {
    std::string made;
    for (uint32_t i = 0, state = 1; i < 70'000; ++i) {
      state = state * 1664525 + 1013904223;
      made += static_cast<char>('a' + (state >> 16) % 26);
    }
    return made;
  }();
  for (const std::string& word : {times("-", 70'000), times("一", 70'000), base64,
                                  times("\uFDFA", longest_word / 3), times("ha ", 200'000)}) {
    for (const LearnedChoice& options : learned(50)) {
      EXPECT_LE(Tokenizer::train(sentences(word), options).size(), 50) << info_of(options).name;
    }
  }
}

// A tab is no space under the identity rule, so this word reaches SentencePiece in one piece of the
// longest kind; where it still dies of something, that is a message and not our end.
TEST(LearnVocabulary, OutlivesAnUnbrokenLineUnderTheIdentityRule) {
  const Bpe identity{.vocabulary_size = 50, .normalization = Normalization::identity};
  EXPECT_EQ(Tokenizer::train(sentences(times("a\t", 70'000)), identity).size(), 50);
}

// D14
TEST(LearnVocabulary, StopsWhenAsked) {
  std::stop_source source;
  std::vector<std::string> text;
  for (uint32_t i = 0, state = 1; i < 60'000; ++i) {
    std::string line;
    for (int k = 0; k < 200; ++k) {
      state = state * 1664525 + 1013904223;
      line += state >> 29 == 0 ? ' ' : static_cast<char>('a' + (state >> 16) % 26);
    }
    text.push_back(std::move(line));
  }
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  EXPECT_THROW(Tokenizer::train(text, Unigram{.vocabulary_size = 30'000}, source.get_token()),
               Stopped);
}

TEST(LearnVocabulary, StopsAtOnceWhenAskedBefore) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(Tokenizer::train(sentences("a"), Bpe{}, source.get_token()), Stopped);
}

TEST(CheckModel, AcceptsASoundModel) {
  for (const LearnedChoice& options : learned(50)) {
    check_model(Tokenizer::train(sentences("a"), options).serialized(), "sound.model", {});
  }
}

TEST(CheckModel, RefusesWhatIsNoModel) {
  const std::string model =
      Tokenizer::train(sentences("a"), Unigram{.vocabulary_size = 50}).serialized();
  for (const std::string& bad : {std::string(), std::string("no model"), std::string(100, '\xff'),
                                 model.substr(0, model.size() / 2)}) {
    EXPECT_THAT(refusal([&] { check_model(bad, "bad.model", {}); }), HasSubstr("bad.model: is no"));
  }
}

// The table of the normalisation is where damage makes the library read beyond its memory.
TEST(CheckModel, RefusesAModelThatKillsTheLibraryOrOneThatItCanUse) {
  const std::string model =
      Tokenizer::train(sentences("a"), Bpe{.vocabulary_size = 50}).serialized();
  int refused = 0;
  for (std::size_t at = 500; at < model.size(); at += model.size() / 40) {
    std::string damaged = model;
    for (std::size_t k = 0; k < 64 && at + k < damaged.size(); ++k) damaged[at + k] ^= 0x55;
    try {
      check_model(damaged, "damaged.model", {});
    } catch (const DataError&) {
      ++refused;
      continue;
    }
    const Tokenizer usable = Tokenizer::from_model(damaged);
    for (const std::string& sentence : sentences("x")) usable.decode(usable.encode(sentence));
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace ballast
