#include "ballast/norm/norm.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>

#include <cmath>
#include <stdexcept>

#include "ballast/base/error.h"

namespace ballast {
namespace {

TEST(Norm, LayerNormRowsHaveMeanZeroAndVarianceOneAtTheStart) {
  torch::manual_seed(1);
  Norm norm(form_of(LayerNorm{}), {64});
  const torch::Tensor y = norm.forward(torch::randn({5, 64}) * 3 + 7);
  EXPECT_LT(y.mean(1).abs().max().item<double>(), 1e-6);
  EXPECT_LT((y.square().mean(1) - 1).abs().max().item<double>(), 1e-4);
}

TEST(Norm, RmsNormHasNoBiasAndKeepsTheSign) {
  Norm norm(form_of(RmsNorm{}), {4});
  EXPECT_FALSE(norm.bias.defined());
  EXPECT_EQ(norm.describe().size(), 1U);
  const torch::Tensor y = norm.forward(torch::full({1, 4}, -2.0));
  EXPECT_LT((y + 1).abs().max().item<double>(), 1e-6);
}

// C06: one row of 1e-4, width 8, eps 1e-6, three places for eps.
TEST(Norm, C06TheThreePlacesOfEpsGiveThreeValues) {
  const torch::Tensor row = torch::full({1, 8}, 1e-4);
  const auto first = [&](EpsPlacement placement) {
    return Norm(RmsNorm{.eps = 1e-6, .eps_placement = placement}.form(), {8})
        .forward(row)[0][0]
        .item<double>();
  };
  EXPECT_NEAR(first(EpsPlacement::inside_root), 0.0995037, 1e-6);
  EXPECT_NEAR(first(EpsPlacement::outside_root), 0.990099, 1e-6);
  EXPECT_NEAR(first(EpsPlacement::clamp), 1.0, 1e-6);
}

const std::vector<int64_t> lengths{3, 1, 4};
constexpr int64_t tokens = 8, width = 6;

/// What ours gives, on rows of three sequences.
torch::Tensor given_by(Norm& norm, const torch::Tensor& x) {
  const Segments sequences = Segments::packed(lengths);
  return norm.forward(x, &sequences);
}

/// What a norm of libtorch over [1, d, positions] gives, sequence by sequence.
template <class Function>
torch::Tensor by_sequence(const torch::Tensor& x, const Function& function) {
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& each : x.split_with_sizes(lengths)) {
    rows.push_back(function(each.t().unsqueeze(0)).squeeze(0).t());
  }
  return torch::cat(rows);
}

TEST(Norm, BatchNormIsLibtorchsInTrainingAndInEvaluation) {
  torch::manual_seed(3);
  Norm ours(BatchNorm{.momentum = 0.3}.form(), {width});
  torch::nn::BatchNorm1d theirs(torch::nn::BatchNorm1dOptions(width).momentum(0.3));
  for (int i = 0; i < 3; ++i) {
    const torch::Tensor x = torch::randn({tokens, width}) * 2 + 1;
    EXPECT_TRUE(torch::allclose(given_by(ours, x), theirs->forward(x), 1e-5, 1e-6));
  }
  EXPECT_TRUE(torch::allclose(ours.running_mean, theirs->running_mean, 1e-5, 1e-6));
  EXPECT_TRUE(torch::allclose(ours.running_second, theirs->running_var, 1e-5, 1e-6));
  ours.eval();
  theirs->eval();
  const torch::Tensor x = torch::randn({tokens, width});
  EXPECT_TRUE(torch::allclose(given_by(ours, x), theirs->forward(x), 1e-5, 1e-6));
}

TEST(Norm, RunningStatisticsLearnOnlyWhereGradientsAreRecorded) {
  Norm norm(BatchNorm{}.form(), {width});
  const torch::Tensor before = norm.running_second.clone();
  {
    const torch::NoGradGuard no_grad;
    norm.forward(torch::randn({tokens, width}));
  }
  EXPECT_TRUE(torch::equal(norm.running_second, before));
  norm.forward(torch::randn({tokens, width}));
  EXPECT_FALSE(torch::equal(norm.running_second, before));
}

TEST(Norm, ABatchOfOneTokenHasNoStatistics) {
  Norm norm(BatchNorm{}.form(), {width});
  EXPECT_THROW(norm.forward(torch::randn({1, width})), DataError);
  norm.eval();
  EXPECT_EQ(norm.forward(torch::randn({1, width})).size(0), 1);
}

TEST(Norm, GroupAndInstanceNormAreLibtorchsOverEachSequence) {
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({tokens, width}) * 3 - 1;
  Norm group(GroupNorm{.groups = 2}.form(), {width});
  EXPECT_TRUE(torch::allclose(
      given_by(group, x),
      by_sequence(x, [](const torch::Tensor& t) { return torch::group_norm(t, 2); }), 1e-5, 1e-5));
  Norm instance(InstanceNorm{}.form(), {width});
  EXPECT_TRUE(instance.parameters().empty());
  // libtorch's instance_norm refuses a single position; its formula is that of as many groups.
  EXPECT_TRUE(torch::allclose(
      given_by(instance, x),
      by_sequence(x, [](const torch::Tensor& t) { return torch::group_norm(t, width); }), 1e-5,
      1e-5));
  EXPECT_THROW(instance.forward(x), std::logic_error);
}

TEST(Norm, ScaleNormGivesRowsOfTheLengthOfItsGain) {
  torch::manual_seed(5);
  Norm norm(ScaleNorm{}.form(), {width});
  const torch::Tensor x = torch::randn({tokens, width});
  EXPECT_NEAR(norm.gain.item<double>(), std::sqrt(6.0), 1e-6);
  const torch::Tensor lengths_at_start = norm.forward(x).norm(2, 1);
  EXPECT_LT((lengths_at_start - std::sqrt(6.0)).abs().max().item<double>(), 1e-5);
  norm.gain.detach().fill_(0.5);
  EXPECT_TRUE(torch::allclose(norm.forward(x), 0.5 * x / x.norm(2, 1, true), 1e-5, 1e-6));
}

TEST(Norm, AGainKeptLessOneActsAsOneMore) {
  torch::manual_seed(6);
  Norm plain(RmsNorm{}.form(), {width}), shifted(RmsNorm{.one_plus_gain = true}.form(), {width});
  const torch::Tensor x = torch::randn({tokens, width});
  EXPECT_TRUE(torch::equal(plain.forward(x), shifted.forward(x)));
  plain.gain.detach().fill_(1.75);
  shifted.gain.detach().fill_(0.75);
  EXPECT_TRUE(torch::equal(plain.forward(x), shifted.forward(x)));
}

TEST(Norm, ANormOfEachHeadSharesItsGain) {
  torch::manual_seed(7);
  NormForm form = RmsNorm{}.form();
  form.groups = NormForm::each_head;
  form.gain = GainExtent::group;
  Norm norm(form, {width, 2});
  norm.gain.detach().copy_(torch::tensor({1.0, 2.0, 3.0}));
  const torch::Tensor x = torch::randn({tokens, width}), heads = x.view({tokens, 2, 3});
  const torch::Tensor expected = heads / heads.square().mean(2, true).sqrt() * norm.gain;
  EXPECT_TRUE(torch::allclose(norm.forward(x), expected.view({tokens, width}), 1e-4, 1e-5));
}

TEST(Norm, PointwiseReplacementsAreTheirFormulas) {
  const torch::Tensor x = torch::linspace(-4, 4, 12).view({2, width});
  Norm tanh(DynamicTanh{.alpha = 0.8}.form(), {width}), erf(DynamicErf{}.form(), {width});
  EXPECT_TRUE(torch::allclose(tanh.forward(x), (0.8 * x).tanh()));
  erf.shift.detach().fill_(0.25);
  EXPECT_TRUE(torch::allclose(erf.forward(x), (0.5 * x + 0.25).erf()));
}

}  // namespace
}  // namespace ballast
