#include "ballast/train/continuations.h"

#include <gmock/gmock.h>

#include <fstream>

#include "ballast/base/error.h"
#include "ballast/testing/temporary_directory.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Continuations : public ::testing::Test {
 protected:
  Continuations() {
    ModelOptions options = testing::toy_options(PreNorm{});
    options.kind = ModelKind::causal_lm;
    model_ = testing::toy_model(options);
  }

  EncodedContinuation encode(const std::string& context, const std::string& continuation,
                             int64_t longest = 100) const {
    return encode_continuation(tokenizer_, 2, context, continuation, longest);
  }

  std::filesystem::path file(const std::string& text) {
    std::ofstream(directory_ / "items.jsonl") << text;
    return directory_ / "items.jsonl";
  }

  TemporaryDirectory directory_;
  Tokenizer tokenizer_ = Tokenizer::from_words(
      std::vector<std::string>{"<pad>", "<unk>", "<s>", "</s>", "a", "b", "c", "d", "e", "f", "g"},
      "words");
  std::shared_ptr<Transformer> model_;
};

TEST_F(Continuations, AreWhatStandsBehindTheContext) {
  const EncodedContinuation found = encode("a b", " c d e");
  EXPECT_THAT(found.ids, ElementsAre(2, 4, 5, 6, 7, 8));
  EXPECT_EQ(found.scored, 3);
  EXPECT_EQ(found.cut, 0);
}

TEST_F(Continuations, TakeTheWhiteSpaceAtTheContextsEnd) {
  for (const char* context : {"a b ", "a b \t "}) {
    const EncodedContinuation found = encode(context, "c");
    EXPECT_EQ(found.scored, 1) << context;
    EXPECT_EQ(found.ids.size(), 4) << context;
  }
  EXPECT_EQ(encode("a b \n ", "c").scored, 2);  // here a line's end is an unknown word
}

// What lm-evaluation-harness does where both join into other pieces: the context stays as it is
// alone, and the ids of the whole are cut behind as many.
TEST_F(Continuations, JoinedWithTheLastWordOfTheContextAreCutByNumber) {
  const EncodedContinuation found = encode("a b", "c d");  // "bc" is a word of its own
  EXPECT_THAT(found.ids, ElementsAre(2, 4, 5, 7));
  EXPECT_EQ(found.scored, 1);
  EXPECT_EQ(encode("a b", "c").scored, 0);
}

TEST_F(Continuations, WithoutAContextFollowThePieceThatBeginsATextOrAreRefused) {
  for (const char* context : {"", " "}) {
    EXPECT_THAT(encode(context, "a b").ids, ElementsAre(2, 4, 5));
    EXPECT_EQ(encode(context, "a b").scored, 2);
  }
  EXPECT_THAT([&] { encode_continuation(tokenizer_, std::nullopt, "", "a", 9); },
              ThrowsMessage<DataError>(HasSubstr("the context is empty")));
}

TEST_F(Continuations, LongerThanTheModelReadsLoseTheBeginOfTheContext) {
  const EncodedContinuation found = encode("a b c d", " e f", 3);
  EXPECT_THAT(found.ids, ElementsAre(6, 7, 8, 9));  // three are read, the last is not
  EXPECT_EQ(found.scored, 2);
  EXPECT_EQ(found.cut, 3);
  EXPECT_EQ(encode("a", " b c", 3).cut, 0);
  EXPECT_THAT([&] { encode("a", " b c d e", 3); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("has 4 tokens"), HasSubstr("at most 3"))));
}

TEST_F(Continuations, ComeInTheOrderOfTheItemsWhateverTheirLength) {
  std::vector<ContinuationItem> items{{"a b c d e f", {" g", " a b"}, true}, {"", {"c"}, false}};
  for (int i = 0; i < 9; ++i) {
    items.push_back({std::string(static_cast<size_t>(i % 3), 'a'), {" d e f g"}, false});
  }
  const auto together = score_continuations(*model_, tokenizer_, items, 100, 4096);
  ASSERT_EQ(together.size(), items.size());
  EXPECT_EQ(together[0].size(), 2);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto alone = score_continuations(*model_, tokenizer_, {items[i]}, 100, 4096).front();
    ASSERT_EQ(alone.size(), together[i].size());
    for (size_t k = 0; k < alone.size(); ++k) {
      EXPECT_NEAR(alone[k].score.log_probability, together[i][k].score.log_probability, 1e-5);
      EXPECT_EQ(alone[k].score.tokens, together[i][k].score.tokens);
    }
  }
  EXPECT_EQ(together[0][1].bytes, 4);
}

TEST_F(Continuations, CountBytesAndCharacters) {
  const auto found =
      score_continuations(*model_, tokenizer_, {{"a", {" \xc3\xa9"}, false}}, 100, 4096);
  EXPECT_EQ(found[0][0].bytes, 3);
  EXPECT_EQ(found[0][0].characters, 2);
}

TEST_F(Continuations, AreReadFromJsonLines) {
  const auto items =
      read_continuations(file("{\"context\": \"a\", \"continuation\": \" b\", \"id\": 7}\n\n"
                              "{\"continuations\": [\"c\", \"d\"], \"context\": \"\"}\n"));
  ASSERT_EQ(items.size(), 2);
  EXPECT_EQ(items[0].context, "a");
  EXPECT_THAT(items[0].continuations, ElementsAre(" b"));
  EXPECT_FALSE(items[0].is_list);
  EXPECT_THAT(items[1].continuations, ElementsAre("c", "d"));
  EXPECT_TRUE(items[1].is_list);
}

TEST_F(Continuations, RefuseALineThatIsNoItemByItsNumber) {
  for (const char* line :
       {"a", "[]", "{}", "{\"context\": \"a\"}", "{\"continuation\": \"a\"}",
        "{\"context\": \"a\", \"continuation\": 1}", "{\"context\": 1, \"continuation\": \"a\"}",
        "{\"context\": \"a\", \"continuations\": []}",
        "{\"context\": \"a\", \"continuation\": \"\"}",
        "{\"context\": \"a\", \"continuations\": [\"b\", \"\"]}",
        "{\"context\": \"a\", \"continuation\": \"b\", \"continuations\": [\"b\"]}"}) {
    const auto path =
        file(std::string("{\"context\": \"a\", \"continuation\": \"b\"}\n") + line + "\n");
    EXPECT_THAT([&] { read_continuations(path); },
                ThrowsMessage<DataError>(HasSubstr("items.jsonl:2: is no item")))
        << line;
  }
  EXPECT_THAT([&] { read_continuations(file("\n")); },
              ThrowsMessage<DataError>(HasSubstr("has no items")));
}

}  // namespace
}  // namespace ballast
