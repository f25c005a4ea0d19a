#include "ballast/data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;

/// One piece a character, so that lengths can be counted by eye; a word begins with a space mark.
const Tokenizer& letters() {
  static const Tokenizer made =
      Tokenizer::train(std::vector<std::string>{"a b c d e f g h i j"},
                       Characters{.vocabulary_size = 100, .remove_extra_spaces = true});
  return made;
}

std::vector<int64_t> with_ends(const std::string& text) {
  std::vector<int64_t> ids = letters().encode(text);
  ids.insert(ids.begin(), letters().begin_id());
  ids.push_back(letters().end_id());
  return ids;
}

std::vector<int64_t> wide(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

TEST(Corpus, AddsBeginAndEndWhereADecoderWantsThem) {
  const EncodedCorpus corpus =
      encode({.source = {"ab", "c"}, .target = {"def", "g"}}, letters(), {});
  ASSERT_EQ(corpus.count(), 2);
  EXPECT_EQ(wide(corpus.target[0]), with_ends("def"));
  const auto source = with_ends("ab");
  EXPECT_EQ(wide(corpus.source[0]), std::vector<int64_t>(source.begin() + 1, source.end()));
}

TEST(Corpus, CutsEachSideByItsOwnVocabulary) {
  const std::vector<std::string> list{"x", "</s>", "<unk>", "y", "<s>", "<pad>"};
  const Tokenizer words = Tokenizer::from_words(list, "words");
  const ParallelText text{.source = {"ab"}, .target = {"y x z"}};
  const EncodedCorpus corpus = encode(text, {letters(), words}, {});
  EXPECT_THAT(wide(corpus.target[0]), ElementsAre(4, 3, 0, 2, 1));
  const EncodedCorpus turned =
      encode({.source = text.target, .target = text.source}, {words, letters()}, {});
  EXPECT_THAT(wide(turned.source[0]), ElementsAre(3, 0, 2, 1));
  EXPECT_EQ(wide(turned.target[0]), with_ends("ab"));
}

// D14
TEST(Corpus, StopsEncodingWhenAsked) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(encode({.source = {"a"}, .target = {"b"}}, letters(), {}, source.get_token()),
               Stopped);
  EXPECT_THROW(encode_stream(std::vector<std::string>{"a"}, letters(), 8, source.get_token()),
               Stopped);
}

TEST(Corpus, DropsAndCountsPairsThatAreTooLongOrEmptyWithoutShifting) {
  const ParallelText text{.source = {"a", "\u200b", "abcdefg", "b", "c"},
                          .target = {"d", "e", "f", "abcdefg", "f"},
                          .dropped_one_empty = 2,
                          .dropped_both_empty = 1};
  const EncodedCorpus corpus = encode(text, letters(), {.max_length = 8});
  EXPECT_EQ(corpus.count(), 2);
  EXPECT_EQ(corpus.dropped_long, 2);
  EXPECT_EQ(corpus.dropped_empty, 4);
  EXPECT_EQ(wide(corpus.target[1]), with_ends("f"));
}

TEST(Corpus, CutsLongPairsOnlyWhenAsked) {
  const ParallelText text{.source = {"abcdefg"}, .target = {"ab"}};
  const EncodedCorpus corpus = encode(text, letters(), {.max_length = 4, .truncate = true});
  EXPECT_EQ(corpus.truncated, 1);
  EXPECT_EQ(corpus.source.length(0), 4);
  EXPECT_EQ(corpus.source[0].back(), letters().end_id());
}

TEST(Corpus, KeepsASentenceOfExactlyTheLimit) {
  const EncodedCorpus corpus = encode({.source = {"ab"}, .target = {"ab"}}, letters(),
                                      {.max_length = 4});  // space mark, a, b, end
  EXPECT_EQ(corpus.count(), 1);
}

TEST(Corpus, KeepsTheOrderOfSentencesWhateverThreadEncodedThem) {
  ParallelText text;
  for (int i = 0; i < 1001; ++i) {
    text.source.push_back(std::string(1 + i % 7, static_cast<char>('a' + i % 10)));
    text.target.push_back(text.source.back());
  }
  const EncodedCorpus corpus = encode(text, letters(), {});
  ASSERT_EQ(corpus.count(), 1001);
  for (int i = 0; i < 1001; ++i) EXPECT_EQ(wide(corpus.target[i]), with_ends(text.target[i]));
}

TEST(Stream, PredictsEveryIdOnce) {
  const std::vector<std::string> lines{"ab", "", "cde", "f"};
  std::vector<int64_t> expected;
  for (const std::string& line : lines) {
    const auto ids = with_ends(line);
    expected.insert(expected.end(), ids.begin() + 1, ids.end());
  }
  for (const int64_t context : {1, 2, 3, 5, 100}) {
    const EncodedCorpus corpus = encode_stream(lines, letters(), context);
    std::vector<int64_t> predicted;
    for (int64_t i = 0; i < corpus.count(); ++i) {
      const auto piece = corpus.target[i];
      ASSERT_LE(corpus.target.length(i), context + 1);
      const int64_t before = i > 0 ? corpus.target[i - 1].back() : letters().begin_id();
      EXPECT_EQ(piece.front(), before);
      predicted.insert(predicted.end(), piece.begin() + 1, piece.end());
    }
    EXPECT_EQ(predicted, expected) << context;
    EXPECT_FALSE(corpus.is_parallel());
  }
}

TEST(Stream, OfBlankLinesHasNoSequence) {
  EXPECT_EQ(encode_stream({}, letters(), 8).count(), 0);
  EXPECT_EQ(encode_stream(std::vector<std::string>{"", ""}, letters(), 8).count(), 0);
}

TEST(TokenLists, RefuseEndsThatDoNotFit) {
  EXPECT_THROW(TokenLists({1, 2, 3}, {2}), DataError);
  EXPECT_THROW(TokenLists({1, 2, 3}, {2, 1, 3}), DataError);
  EXPECT_THROW(TokenLists({1, 2, 3}, {-1, 3}), DataError);
  EXPECT_THROW(TokenLists({1}, {}), DataError);
  EXPECT_THAT(TokenLists({1, 2, 3}, {1, 3})[1], ElementsAre(2, 3));
}

}  // namespace
}  // namespace ballast
