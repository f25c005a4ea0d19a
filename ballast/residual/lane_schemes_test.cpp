#include "ballast/residual/lane_schemes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/residual/lanes.h"
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

using Row = std::vector<double>;

/// The simplest way to write a row less its mean, divided by its standard deviation.
Row normed_row(const Row& x) {
  double mean = 0, second = 0;
  for (const double each : x) mean += each / static_cast<double>(x.size());
  for (const double each : x)
    second += (each - mean) * (each - mean) / static_cast<double>(x.size());
  Row y;
  for (const double each : x) y.push_back((each - mean) / std::sqrt(second + 1e-5));
  return y;
}

Row bent_row(const Row& x) {
  Row y;
  for (const double each : x) y.push_back(std::tanh(2 * each) + 0.3);
  return y;
}

/// x + factor * y.
Row plus(Row x, const Row& y, double factor = 1) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
  return x;
}

double distance(const torch::Tensor& given, const Row& expected) {
  return (given[0] - torch::tensor(expected, torch::kFloat64)).abs().max().item<double>();
}

// x_out = norm(x_in + u + f(u)), u what the sublayer before the last gives.
TEST(BottomToTop, AddsWhatEntersALayerBeforeItsLastNorm) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({4, d});
  torch::Tensor by_hand = x;
  ResidualStream stream{{x, x}};
  for (int layer = 0; layer < 2; ++layer) {
    const torch::Tensor entering = by_hand;
    torch::Tensor u = normed(entering + bent(entering));
    u = normed(u + bent(u));
    by_hand = normed(entering + u + bent(u));
    int index = 3 * layer;
    for (const Sublayer kind :
         {Sublayer::self_attention, Sublayer::cross_attention, Sublayer::feed_forward}) {
      stream = connection(BottomToTop{}, site(kind, index++)).forward(stream, bent);
    }
    EXPECT_TRUE(torch::allclose(stream.lanes[0], by_hand, 1e-5, 1e-6)) << "layer " << layer;
  }
}

const Row some_row{0.5, -1.25, 2, 0.125, -0.75, 1.5};

template <class Scheme>
ResidualStream stepped(const Scheme& scheme, const ResidualStream& stream, int index) {
  const ResidualSite at =
      site(index % 2 == 0 ? Sublayer::self_attention : Sublayer::feed_forward, index);
  Residual residual = connection(scheme, at);
  residual.to(torch::kFloat64);
  return residual.forward(stream, bent);
}

// x = norm(x + f(x)), d = d + f(x) (Xie et al. 2023, arXiv:2304.14802).
TEST(ResiDual, IsTheNaiveImplementationInDouble) {
  Row x = some_row, dual = some_row;
  const torch::Tensor start = torch::tensor(some_row, torch::kFloat64).unsqueeze(0);
  ResidualStream stream{{start, start}};
  for (int index = 0; index < 6; ++index) {
    const Row f = bent_row(x);
    x = normed_row(plus(x, f));
    dual = plus(dual, f);
    stream = stepped(ResiDual{}, stream, index);
    EXPECT_LT(distance(stream.lanes[0], x), 1e-14) << index;
    EXPECT_LT(distance(stream.lanes[1], dual), 1e-14) << index;
  }
}

// o = f(x + norm(y)); x = norm(x + o), y = y + o (arXiv:2602.08064); with the authors' damping, in
// which o counts 1 / sqrt(2 l) for x.
TEST(SiameseNorm, IsTheNaiveImplementationInDouble) {
  for (const bool damped : {false, true}) {
    for (const bool input_norm : {false, true}) {
      Row x = some_row, y = some_row;
      const torch::Tensor start = torch::tensor(some_row, torch::kFloat64).unsqueeze(0);
      ResidualStream stream{{start, start}};
      for (int index = 0; index < 6; ++index) {
        const Row sum = plus(x, normed_row(y));
        const Row o = bent_row(input_norm ? normed_row(sum) : sum);
        x = normed_row(plus(x, o, damped ? 1 / std::sqrt(2 * (index / 3 + 1)) : 1));
        y = plus(y, o);
        stream = stepped(SiameseNorm{damped, input_norm}, stream, index);
        EXPECT_LT(distance(stream.lanes[0], x), 1e-14) << index;
        EXPECT_LT(distance(stream.lanes[1], y), 1e-14) << index;
      }
    }
  }
}

/// The lanes of a stream that enters so.
ResidualStream entering(const StackForm& form, const torch::Tensor& x) {
  ResidualStream stream;
  for (const double factor : form.enter.values()) stream.lanes.push_back(x * factor);
  return stream;
}

// v_0 is the embedding, v_i what connection i gave; each reads their mean at the start, for w = 0.
TEST(AttentionResiduals, ReadAtTheStartThePlainMeanOfWhatIsThere) {
  torch::manual_seed(8);
  const AttentionResiduals scheme{.blocks = 6};
  std::vector<torch::Tensor> values{torch::randn({4, d})};
  ResidualStream stream = entering(scheme.stack(), values.front());
  for (int index = 0; index < 6; ++index) {
    values.push_back(bent(normed(torch::stack(values).mean(0))));
    stream = connection(scheme, site(Sublayer::self_attention, index)).forward(stream, bent);
    for (int i = 0; i <= index + 1; ++i) {
      EXPECT_TRUE(torch::allclose(stream.lanes[i], values[i], 1e-5, 1e-5)) << index << ' ' << i;
    }
  }
}

// softmax_i(w . rms(v_i)) (Kimi team 2026, arXiv:2603.15031), over the lanes that are there.
TEST(AttentionResiduals, WeighEveryRowByItsOwnSoftmax) {
  torch::manual_seed(9);
  const AttentionResiduals scheme{.blocks = 6};
  Residual residual = connection(scheme, site(Sublayer::self_attention, 2));
  const torch::Tensor w = residual.named_parameters()["read_gate"].detach();
  w.copy_(torch::randn({1, d}));
  ResidualStream stream;
  for (int i = 0; i < 7; ++i) stream.lanes.push_back(torch::randn({4, d}) * (i < 3 ? 1 : 0));
  std::vector<torch::Tensor> logits;
  for (int i = 0; i < 3; ++i) {
    const torch::Tensor& v = stream.lanes[i];
    logits.push_back(torch::mv(v / v.square().mean(1, true).sqrt(), w[0]));
  }
  const torch::Tensor p = torch::stack(logits).softmax(0);
  torch::Tensor h = torch::zeros({4, d});
  for (int i = 0; i < 3; ++i) h = h + p[i].unsqueeze(1) * stream.lanes[i];
  stream = residual.forward(stream, bent);
  EXPECT_TRUE(torch::allclose(stream.lanes[3], bent(normed(h)), 1e-4, 1e-5));
}

TEST(AttentionResiduals, SumWhatTheConnectionsOfABlockGive) {
  const AttentionResiduals scheme{.blocks = 4};
  for (int index = 0; index < 12; ++index) {
    const ResidualForm form = scheme.form({.index = index, .count = 12});
    for (int lane = 0; lane < 5; ++lane) {
      EXPECT_EQ(form.branch.start.at(0, lane), lane == index / 3 + 1 ? 1 : 0);
      const bool is_there = lane <= (index == 0 ? 0 : (index - 1) / 3 + 1);
      EXPECT_EQ(form.read.start.at(0, lane) == 0, is_there) << index << ' ' << lane;
    }
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
