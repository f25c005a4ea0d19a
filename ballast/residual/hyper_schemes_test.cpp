#include "ballast/residual/hyper_schemes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/residual/norm_place_schemes.h"
#include "ballast/testing/connection.h"

namespace ballast {
namespace {

using testing::bent;
using testing::connection;
using testing::normed;

constexpr int64_t d = 6;

ResidualSite site(Sublayer kind, int index) {
  return {.kind = kind, .index = index, .count = 6, .layer = index / 3, .d_model = d};
}

TEST(HyperConnections, WithOneLaneAreAtTheStartPreNormToTheBit) {
  torch::manual_seed(3);
  torch::Tensor x = torch::randn({5, d}), y = x;
  for (int index = 0; index < 4; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PreNorm{}, at).forward(x, bent);
    y = connection(HyperConnections{.lanes = 1}, at).forward(y, bent);
    EXPECT_TRUE(torch::equal(x, y)) << "connection " << index;
  }
}

TEST(HyperConnections, HoldAtTheStartTheStreamOfPreNormInEveryLane) {
  torch::manual_seed(4);
  torch::Tensor x = torch::randn({5, d});
  ResidualStream stream{std::vector<torch::Tensor>(4, x)};
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PreNorm{}, at).forward(x, bent);
    stream = connection(HyperConnections{}, at).forward(stream, bent);
    for (const torch::Tensor& lane : stream.lanes) EXPECT_TRUE(torch::equal(lane, x)) << index;
  }
}

// H' = A H + b f(m H), Zhu et al. 2024, equation 1, with every factor away from its start.
TEST(HyperConnections, MixTheirLanesAsThePaperSays) {
  torch::manual_seed(5);
  Residual residual = connection(HyperConnections{.lanes = 3}, site(Sublayer::feed_forward, 1));
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& each : {residual.shortcut, residual.branch, residual.read}) {
    each.copy_(torch::randn(each.sizes()));
  }
  const torch::Tensor lanes = torch::randn({3, 4 * d});
  const torch::Tensor h = residual.read.unsqueeze(0).mm(lanes).view({4, d});
  const torch::Tensor f = bent(normed(h)).view({1, 4 * d});
  const torch::Tensor expected = residual.shortcut.mm(lanes) + residual.branch.unsqueeze(1).mm(f);
  ResidualStream stream;
  for (const torch::Tensor& lane : lanes.unbind()) stream.lanes.push_back(lane.view({4, d}));
  stream = residual.forward(stream, bent);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(torch::allclose(stream.lanes[i], expected[i].view({4, d}), 1e-4, 1e-5)) << i;
  }
}

TEST(DynamicHyperConnections, AreTheStaticOnesAtTheStart) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({5, d});
  const ResidualSite at = site(Sublayer::feed_forward, 2);
  ResidualStream fixed{std::vector<torch::Tensor>(4, x)}, followed = fixed;
  fixed = connection(HyperConnections{}, at).forward(fixed, bent);
  followed = connection(HyperConnections{.dynamic = true}, at).forward(followed, bent);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(torch::allclose(followed.lanes[i], fixed.lanes[i], 1e-5, 1e-6)) << i;
  }
}

/// A branch whose rows have mean 0.
torch::Tensor centred(const torch::Tensor& h) {
  const torch::Tensor f = torch::tanh(2 * h);
  return f - f.mean(1, true);
}

// Zhu et al. 2024, section 3.1: with one lane Pre-Norm is A = B = 1 (the test above), and Post-Norm
// A = B = 1 / sqrt(s_x^2 + s_f^2 + 2 s_xf), from the variances of stream and branch and their
// covariance. So both are ends of one matrix.
TEST(HyperConnections, WithOneLaneArePostNormAtTheOtherEndOfTheMatrix) {
  torch::manual_seed(10);
  torch::Tensor x = normed(torch::randn({1, d})), y = x;
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PostNorm{}, at).forward(x, centred);
    Residual residual = connection(HyperConnections{.lanes = 1}, at);
    const torch::Tensor f = centred(y);
    const double sum = (y.square().mean() + f.square().mean() + 2 * (y * f).mean()).item<double>();
    residual.shortcut.detach().fill_(1 / std::sqrt(sum));
    residual.branch.detach().fill_(1 / std::sqrt(sum));
    y = residual.forward(y, centred);
    EXPECT_TRUE(torch::allclose(x, y, 1e-3, 1e-3)) << "connection " << index;
  }
}

std::vector<torch::Tensor> parts_of(const torch::Tensor& x, int64_t count) {
  return x.chunk(count, 1);
}

TEST(FracConnections, AreAtTheStartPreNormToTheBit) {
  torch::manual_seed(11);
  torch::Tensor x = torch::randn({5, d});
  ResidualStream stream{parts_of(x, 3)};
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PreNorm{}, at).forward(x, bent);
    stream = connection(FracConnections{.parts = 3}, at).forward(stream, bent);
    EXPECT_TRUE(torch::equal(torch::cat(stream.lanes, 1), x)) << index;
  }
}

// H' = A H + B f(Y H), H the row as n parts (arXiv:2503.14125), every number away from its start.
TEST(FracConnections, MixThePartsOfARow) {
  torch::manual_seed(12);
  const int64_t n = 3;
  Residual residual = connection(FracConnections{.parts = n}, site(Sublayer::feed_forward, 1));
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& each : {residual.shortcut, residual.branch, residual.read}) {
    each.copy_(torch::randn(each.sizes()));
  }
  const torch::Tensor x = torch::randn({4, d});
  const torch::Tensor H = x.view({4, n, d / n});
  const torch::Tensor f = bent(normed(torch::matmul(residual.read, H).view({4, d})));
  const torch::Tensor expected =
      torch::matmul(residual.shortcut, H) + residual.branch.view({n, 1}) * f.view({4, n, d / n});
  const ResidualStream stream = residual.forward(ResidualStream{parts_of(x, n)}, bent);
  EXPECT_TRUE(torch::allclose(torch::cat(stream.lanes, 1), expected.view({4, d}), 1e-4, 1e-5));
}

// A read of 1 / n, a write of 1, and lanes that stay where they are: each lane is Pre-Norm's
// stream.
TEST(IdentityHyperConnections, HoldAtTheStartTheStreamOfPreNormInEveryLane) {
  torch::manual_seed(13);
  torch::Tensor x = torch::randn({5, d});
  ResidualStream stream{std::vector<torch::Tensor>(4, x)};
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PreNorm{}, at).forward(x, bent);
    stream = connection(IdentityHyperConnections{}, at).forward(stream, bent);
    for (const torch::Tensor& lane : stream.lanes) {
      EXPECT_TRUE(torch::allclose(lane, x, 1e-4, 1e-5)) << index;
    }
  }
}

TEST(IdentityHyperConnections, MixNoLanes) {
  const ResidualForm form = IdentityHyperConnections{}.form({});
  EXPECT_EQ(form.shortcut, Coefficient{});
  EXPECT_NEAR(1 / (1 + std::exp(-form.read.start.at(0, 2))), 0.25, 1e-15);
}

TEST(PermutedHyperConnections, HoldAtTheStartTheStreamOfPreNormInEveryLane) {
  torch::manual_seed(14);
  torch::Tensor x = torch::randn({5, d});
  ResidualStream stream{std::vector<torch::Tensor>(4, x)};
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = connection(PreNorm{}, at).forward(x, bent);
    stream = connection(PermutedHyperConnections{}, at).forward(stream, bent);
    for (const torch::Tensor& lane : stream.lanes) {
      EXPECT_TRUE(torch::allclose(lane, x, 1e-4, 1e-5)) << index;
    }
  }
}

TEST(PermutedHyperConnections, MixTwoLanesByOneProbability) {
  torch::manual_seed(15);
  Residual residual =
      connection(PermutedHyperConnections{.lanes = 2}, site(Sublayer::feed_forward, 1));
  const torch::NoGradGuard no_grad;
  residual.shortcut.copy_(torch::tensor({0.7, -0.4}));
  const double p = 1 / (1 + std::exp(-1.1));
  const torch::Tensor a = torch::randn({4, d}), b = torch::randn({4, d});
  const auto nothing = [](const torch::Tensor& h) { return torch::zeros_like(h); };
  const ResidualStream stream = residual.forward(ResidualStream{{a, b}}, nothing);
  EXPECT_TRUE(torch::allclose(stream.lanes[0], p * a + (1 - p) * b, 1e-5, 1e-6));
  EXPECT_TRUE(torch::allclose(stream.lanes[1], (1 - p) * a + p * b, 1e-5, 1e-6));
}

}  // namespace
}  // namespace ballast
