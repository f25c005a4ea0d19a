#include "ballast/norm/norm.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Norm, LayerNormRowsHaveMeanZeroAndVarianceOneAtTheStart) {
  torch::manual_seed(1);
  Norm norm(LayerNormOptions{}, 64);
  const torch::Tensor y = norm.forward(torch::randn({5, 64}) * 3 + 7);
  EXPECT_LT(y.mean(1).abs().max().item<double>(), 1e-6);
  EXPECT_LT((y.square().mean(1) - 1).abs().max().item<double>(), 1e-4);
}

TEST(Norm, RmsNormHasNoBiasAndKeepsTheSign) {
  Norm norm(RmsNormOptions{}, 4);
  EXPECT_FALSE(norm.bias.defined());
  EXPECT_EQ(norm.describe().size(), 1U);
  const torch::Tensor y = norm.forward(torch::full({1, 4}, -2.0));
  EXPECT_LT((y + 1).abs().max().item<double>(), 1e-6);
}

// C06: one row of 1e-4, width 8, eps 1e-6, three places for eps.
TEST(Norm, C06TheThreePlacesOfEpsGiveThreeValues) {
  const torch::Tensor row = torch::full({1, 8}, 1e-4);
  const auto first = [&](EpsPlacement placement) {
    return Norm(RmsNormOptions{.eps = 1e-6, .eps_placement = placement}, 8)
        .forward(row)[0][0]
        .item<double>();
  };
  EXPECT_NEAR(first(EpsPlacement::inside_root), 0.0995037, 1e-6);
  EXPECT_NEAR(first(EpsPlacement::outside_root), 0.990099, 1e-6);
  EXPECT_NEAR(first(EpsPlacement::clamp), 1.0, 1e-6);
}

}  // namespace
}  // namespace ballast
