#include "ballast/layers/weight_form.h"

#include <gtest/gtest.h>

#include "ballast/layers/linear.h"
#include "ballast/values/plan.h"

namespace ballast {
namespace {

constexpr int64_t rows = 6, columns = 9;

std::shared_ptr<Linear> initialized(const WeightForm& form) {
  auto layer =
      std::make_shared<Linear>(LinearShape{.fan_in = columns, .fan_out = rows, .form = form});
  initialize(plan(*layer, {}), 7);
  return layer;
}

TEST(WeightForm, APlainWeightIsItself) {
  const auto layer = initialized({});
  EXPECT_TRUE(layer->acting_weight().is_same(layer->weight));
}

TEST(WeightForm, WeightNormStartsAtTheWeightAndKeepsItsLengths) {
  const auto layer = initialized(WeightNorm{}.form());
  const torch::Tensor start = layer->weight.detach().clone();
  EXPECT_TRUE(torch::allclose(layer->acting_weight(), start, 1e-5, 1e-7));
  layer->weight.detach().mul_(3);
  EXPECT_TRUE(torch::allclose(layer->acting_weight(), start, 1e-5, 1e-7));
  layer->weight_gain.detach().mul_(2);
  EXPECT_TRUE(torch::allclose(layer->acting_weight(), 2 * start, 1e-5, 1e-7));
}

TEST(WeightForm, StandardizedRowsHaveMeanZeroAndDeviationOne) {
  const auto layer = initialized(WeightStandardization{.eps = 1e-12, .gain = false}.form());
  const torch::Tensor acting = layer->acting_weight();
  EXPECT_LT(acting.mean(1).abs().max().item<double>(), 1e-6);
  EXPECT_LT((acting.square().mean(1) - 1).abs().max().item<double>(), 1e-5);
}

TEST(WeightForm, DemodulatedRowsHaveLengthOneWhateverTheScaleOfTheInputs) {
  const auto layer = initialized(WeightDemodulation{}.form());
  layer->input_scale.detach().copy_(torch::linspace(0.1, 3, columns));
  const torch::Tensor acting = layer->acting_weight();
  EXPECT_LT((acting.norm(2, 1) - 1).abs().max().item<double>(), 1e-5);
  const torch::Tensor scaled = layer->weight * layer->input_scale;
  EXPECT_TRUE(torch::allclose(acting, scaled / scaled.norm(2, 1, true), 1e-4, 1e-6));
}

TEST(WeightForm, ASpectralWeightHasLargestSingularValueOneAndKeepsUpWithItsWeight) {
  const auto layer = initialized(SpectralWeight{}.form());
  const auto largest = [&] {
    return at::linalg_svdvals(layer->acting_weight().detach()).max().item<double>();
  };
  EXPECT_NEAR(largest(), 1, 1e-3);
  layer->weight.detach().add_(0.05 * torch::ones({rows, columns}));
  for (int64_t step = 1; step <= 30; ++step) {
    layer->context().step = step;
    layer->acting_weight();
  }
  EXPECT_NEAR(largest(), 1, 1e-3);
}

TEST(WeightForm, OneStepMakesOneIteration) {
  const auto layer = initialized(SpectralWeight{}.form());
  layer->weight.detach().copy_(torch::randn({rows, columns}));
  layer->acting_weight();
  const torch::Tensor first = layer->left_vector.clone();
  layer->acting_weight();
  EXPECT_TRUE(torch::equal(layer->left_vector, first));
  layer->context().step = 1;
  layer->acting_weight();
  EXPECT_FALSE(torch::equal(layer->left_vector, first));
}

}  // namespace
}  // namespace ballast
