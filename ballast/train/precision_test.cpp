#include "ballast/base/precision.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "ballast/decode/translate.h"
#include "ballast/optim/optimizer.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::toy_ids;
using testing::toy_vocabulary;

ModelOptions options_with(EmbeddingSharing sharing, const ActivationChoice& activation) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.d_model = 32;
  options.d_ff = 64;
  options.activation = activation;
  options.share_embeddings = sharing;
  return options;
}

std::shared_ptr<Transformer> toy() {
  return testing::toy_model(options_with(EmbeddingSharing::all, Relu{}));
}

/// Every weight of the model under an optimizer.
Optimizer optimizer_of(Transformer& model) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& item : model.named_parameters()) {
    parameters.push_back({item.key(), item.value()});
  }
  return {Adam{}, std::move(parameters)};
}

struct Losses {
  double first = 0, last = 0;  ///< nats per token
};

/// Learns to copy a few sentences.
Losses copying_losses(const ModelOptions& options, Precision precision) {
  const auto model = testing::toy_model(options);
  model->context().precision = precision;
  Optimizer optimizer = optimizer_of(*model);
  const Packed text = toy_ids({7, 5, 6, 4}, toy_vocabulary, 3);
  Losses losses;
  for (int step = 0; step < 60; ++step) {
    const torch::Tensor hidden = model->forward(text, text);
    const CrossEntropy sums = cross_entropy(model->output->against(hidden, text.tokens), {});
    sums.loss.backward();
    optimizer.step(3e-3, 1.0 / static_cast<double>(sums.tokens));
    optimizer.clear_gradients();
    losses.last = sums.loss.item<double>() / static_cast<double>(sums.tokens);
    if (step == 0) losses.first = losses.last;
  }
  return losses;
}

TEST(Bf16Training, LossFallsAsInFloat32) {
  for (const ModelOptions& options :
       {options_with(EmbeddingSharing::all, Relu{}), options_with(EmbeddingSharing::none, Gelu{}),
        options_with(EmbeddingSharing::target_output, SwiGlu{})}) {
    const Losses wide = copying_losses(options, Precision::float32);
    const Losses narrow = copying_losses(options, Precision::bf16);
    EXPECT_NE(narrow.first, wide.first);
    EXPECT_NEAR(narrow.first, wide.first, 0.01 * wide.first);
    EXPECT_LT(wide.last, 0.3 * wide.first);
    EXPECT_NEAR(narrow.last, wide.last, 0.05 * wide.first);
  }
}

TEST(Bf16Model, SeesWeightsThatHaveChanged) {
  const torch::NoGradGuard no_grad;
  const auto model = toy(), other = toy();
  const Packed text = toy_ids({7, 5}, toy_vocabulary, 3);
  for (const auto& each : {model, other}) each->context().precision = Precision::bf16;
  model->logits(model->forward(text, text));
  for (const auto& each : {model, other}) {
    for (const torch::Tensor& parameter : each->parameters()) parameter.mul_(1.5);
  }
  EXPECT_TRUE(
      model->logits(model->forward(text, text)).equal(other->logits(other->forward(text, text))));
}

TEST(Bf16Decoding, IsDecidedByItsOptionAndLeavesTheModelAsItWas) {
  const auto model = toy();
  const std::vector<std::vector<int64_t>> sources{{5, 6, 7, 3}, {8, 3}};
  const auto score = [&](Precision precision) {
    return translate(*model, sources, {.beam = 2, .precision = precision})[0][0].score;
  };
  const double wide = score(Precision::float32), narrow = score(Precision::bf16);
  EXPECT_NE(narrow, wide);
  EXPECT_NEAR(narrow, wide, 0.05 * std::abs(wide));
  EXPECT_EQ(model->context().precision, Precision::float32);
  model->context().precision = Precision::bf16;
  EXPECT_EQ(score(Precision::float32), wide);
}

}  // namespace
}  // namespace ballast
