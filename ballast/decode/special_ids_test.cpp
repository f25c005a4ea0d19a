#include <gtest/gtest.h>

#include "ballast/decode/hypothesis.h"

namespace ballast {
namespace {

SpecialIds of_words(const std::vector<std::string>& list) {
  return special_ids(Tokenizer::from_words(list, "words"));
}

TEST(SpecialIds, AreThoseOfTheVocabulary) {
  const SpecialIds listed = of_words({"a", "</s>", "<unk>", "b", "<s>", "<pad>"});
  EXPECT_EQ(listed.padding, 5);
  EXPECT_EQ(listed.begin, 4);
  EXPECT_EQ(listed.end, 1);
  EXPECT_EQ(listed.unknown, 2);
  const SpecialIds fairseq = of_words({"a 2", "b 1"});
  EXPECT_EQ(fairseq.begin, 0);
  EXPECT_EQ(fairseq.padding, 1);
}

TEST(SpecialIds, AreByDefaultThoseOfALearnedVocabulary) {
  const std::vector<std::string> text(20, "a b c d e f g");
  const SpecialIds learned = special_ids(Tokenizer::train(text, Bpe{.vocabulary_size = 14}));
  EXPECT_EQ(learned.padding, SpecialIds{}.padding);
  EXPECT_EQ(learned.begin, SpecialIds{}.begin);
  EXPECT_EQ(learned.end, SpecialIds{}.end);
  EXPECT_EQ(learned.unknown, SpecialIds{}.unknown);
}

}  // namespace
}  // namespace ballast
