#include "ballast/residual/lane_schemes.h"

#include <gtest/gtest.h>

#include "ballast/residual/lanes.h"
#include "ballast/residual/norm_place_schemes.h"
#include "ballast/residual/residual.h"

namespace ballast {
namespace {

constexpr int64_t d = 6;

ResidualSite site(Sublayer kind, int index) {
  return {.kind = kind, .index = index, .count = 6, .layer = index / 3, .d_model = d};
}

template <class Scheme>
StackForm stack_form(const Scheme& scheme) {
  if constexpr (requires { scheme.stack(); }) return scheme.stack();
  return {};
}

template <class Scheme>
Residual made(const Scheme& scheme, const ResidualSite& site) {
  return Residual({.form = scheme.form(site),
                   .norm = LayerNorm{},
                   .site = site,
                   .lanes = stack_form(scheme).lanes});
}

torch::Tensor normed(const torch::Tensor& x) { return torch::layer_norm(x, {d}); }

torch::Tensor branch(const torch::Tensor& h) { return torch::tanh(2 * h) + 0.3; }

// x_out = norm(x_in + u + f(u)), u what the sublayer before the last gives.
TEST(BottomToTop, AddsWhatEntersALayerBeforeItsLastNorm) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({4, d});
  torch::Tensor by_hand = x;
  ResidualStream stream{{x, x}};
  for (int layer = 0; layer < 2; ++layer) {
    const torch::Tensor entering = by_hand;
    torch::Tensor u = normed(entering + branch(entering));
    u = normed(u + branch(u));
    by_hand = normed(entering + u + branch(u));
    int index = 3 * layer;
    for (const Sublayer kind :
         {Sublayer::self_attention, Sublayer::cross_attention, Sublayer::feed_forward}) {
      stream = made(BottomToTop{}, site(kind, index++)).forward(stream, branch);
    }
    EXPECT_TRUE(torch::allclose(stream.lanes[0], by_hand, 1e-5, 1e-6)) << "layer " << layer;
  }
}

TEST(HyperConnections, WithOneLaneAreAtTheStartPreNormToTheBit) {
  torch::manual_seed(3);
  torch::Tensor x = torch::randn({5, d}), y = x;
  for (int index = 0; index < 4; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = made(PreNorm{}, at).forward(x, branch);
    y = made(HyperConnections{.lanes = 1}, at).forward(y, branch);
    EXPECT_TRUE(torch::equal(x, y)) << "connection " << index;
  }
}

TEST(HyperConnections, HoldAtTheStartTheStreamOfPreNormInEveryLane) {
  torch::manual_seed(4);
  torch::Tensor x = torch::randn({5, d});
  ResidualStream stream{std::vector<torch::Tensor>(4, x)};
  for (int index = 0; index < 6; ++index) {
    const ResidualSite at = site(Sublayer::feed_forward, index);
    x = made(PreNorm{}, at).forward(x, branch);
    stream = made(HyperConnections{}, at).forward(stream, branch);
    for (const torch::Tensor& lane : stream.lanes) EXPECT_TRUE(torch::equal(lane, x)) << index;
  }
}

// H' = A H + b f(m H), Zhu et al. 2024, equation 1, with every factor away from its start.
TEST(HyperConnections, MixTheirLanesAsThePaperSays) {
  torch::manual_seed(5);
  Residual residual = made(HyperConnections{.lanes = 3}, site(Sublayer::feed_forward, 1));
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& each : {residual.shortcut, residual.branch, residual.read}) {
    each.copy_(torch::randn(each.sizes()));
  }
  const torch::Tensor lanes = torch::randn({3, 4 * d});
  const torch::Tensor h = residual.read.unsqueeze(0).mm(lanes).view({4, d});
  const torch::Tensor f = branch(normed(h)).view({1, 4 * d});
  const torch::Tensor expected = residual.shortcut.mm(lanes) + residual.branch.unsqueeze(1).mm(f);
  ResidualStream stream;
  for (const torch::Tensor& lane : lanes.unbind()) stream.lanes.push_back(lane.view({4, d}));
  stream = residual.forward(stream, branch);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(torch::allclose(stream.lanes[i], expected[i].view({4, d}), 1e-4, 1e-5)) << i;
  }
}

TEST(DynamicHyperConnections, AreTheStaticOnesAtTheStart) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({5, d});
  const ResidualSite at = site(Sublayer::feed_forward, 2);
  ResidualStream fixed{std::vector<torch::Tensor>(4, x)}, followed = fixed;
  fixed = made(HyperConnections{}, at).forward(fixed, branch);
  followed = made(HyperConnections{.dynamic = true}, at).forward(followed, branch);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(torch::allclose(followed.lanes[i], fixed.lanes[i], 1e-5, 1e-6)) << i;
  }
}

TEST(Lanes, WeightsOfZeroAndOneCopyNothing) {
  const torch::Tensor a = torch::ones({2, 2}), b = a * 2;
  const auto sums = mixed(Grid(3, {0, 1, 0, 0, 1, 2}), {a, b});
  EXPECT_TRUE(sums[0].is_same(b));
  EXPECT_FALSE(sums[1].defined());
  EXPECT_TRUE(torch::equal(sums[2], a * 5));
}

}  // namespace
}  // namespace ballast
