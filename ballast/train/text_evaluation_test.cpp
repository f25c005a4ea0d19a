#include "ballast/train/text_evaluation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "ballast/testing/temporary_directory.h"
#include "ballast/testing/toy.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

class TextEvaluated : public ::testing::Test {
 protected:
  TextEvaluated() {
    ModelOptions options = testing::toy_options(PreNorm{});
    options.kind = ModelKind::causal_lm;
    model_ = testing::toy_model(options);
  }

  std::string file(const std::string& text) {
    const auto path = directory_ / "text";
    std::ofstream(path) << text;
    return path.string();
  }

  EncodedText read(const std::string& text) { return read_text({file(text)}, tokenizer_, {}); }

  TemporaryDirectory directory_;
  Tokenizer tokenizer_ = Tokenizer::from_words(
      std::vector<std::string>{"<pad>", "<unk>", "<s>", "</s>", "a", "b", "c", "d", "e", "f", "g"},
      "words");
  std::shared_ptr<Transformer> model_;
};

TEST_F(TextEvaluated, LinesAreOneStreamWithTheirEnds) {
  const EncodedText text = read("a b\n\nzebra c \n");
  EXPECT_THAT(text.sequences, ::testing::ElementsAre(std::vector<int64_t>{2, 4, 5, 3, 3, 1, 6, 3}));
  EXPECT_EQ(text.size, (TextSize{4, 3, 14}));
  EXPECT_EQ(text.unknown, 1);
  EXPECT_EQ(size_of_files({file("a b\n\nzebra c \n")}, {}), text.size);
}

TEST_F(TextEvaluated, InContextsSideBySideIsWhatATrainingValidatesBy) {
  const std::vector<std::string> lines{"a b c d", "", "e f g a", "b", "c d e f g a b c d e f"};
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  constexpr int64_t context = 4;
  const CrossEntropyOptions smoothed{.smoothing = 0.1};
  const Evaluation usual =
      evaluate(*model_, encode_stream(lines, tokenizer_, context), {.tokens = 8}, smoothed);
  const TextEvaluation found =
      evaluate_text(*model_, read(text), {context, context}, {.batch_tokens = 8, .loss = smoothed});
  EXPECT_EQ(found.tokens, usual.tokens);
  const auto tokens = static_cast<double>(found.tokens);
  EXPECT_NEAR(found.nll / tokens, usual.nll, 1e-6 * usual.nll);
  EXPECT_NEAR(found.loss / tokens, usual.loss, 1e-6 * usual.loss);
}

TEST_F(TextEvaluated, AnEmptyFileAndAnEmptyLineCountForWhatTheyAre) {
  const TextEvaluation nothing = evaluate_text(*model_, read(""), {}, {});
  EXPECT_EQ(nothing.tokens, 0);
  EXPECT_EQ(nothing.nll, 0);
  EXPECT_EQ(nothing.perplexity(nothing.tokens), 1);
  const TextEvaluation blank = evaluate_text(*model_, read("\n"), {}, {});
  EXPECT_EQ(blank.tokens, 1);  // the line's end
  EXPECT_EQ(blank.size, (TextSize{0, 1, 1}));
}

TEST_F(TextEvaluated, MeasuresAreRootsOfOneProbability) {
  const TextEvaluation found = evaluate_text(*model_, read("a b c\nd\n"), {3, 2}, {});
  EXPECT_EQ(found.tokens, 6);
  EXPECT_NEAR(std::pow(found.perplexity(found.tokens), 6), std::exp(found.nll),
              1e-9 * std::exp(found.nll));
  EXPECT_NEAR(std::log(found.perplexity(found.size.words)) * 4, found.nll, 1e-9);
  EXPECT_NEAR(std::log(found.perplexity(found.size.words_and_line_ends())) * 6, found.nll, 1e-9);
  EXPECT_NEAR(std::exp2(bits_per_byte(found.nll, found.size.bytes)),
              found.perplexity(found.size.bytes), 1e-9);
}

}  // namespace
}  // namespace ballast
