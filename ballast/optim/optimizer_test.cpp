#include "ballast/optim/optimizer.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/optim/clip.h"
#include "ballast/optim/schedules.h"

namespace ballast {
namespace {

/// One weight under the published rules, written down step by step in double.
struct Naive {
  double w, m = 0, v = 0;
  int64_t t = 0;

  void average(double beta1, double beta2, double g) {
    ++t;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
  }
  double m_hat(double beta1) const { return m / (1 - std::pow(beta1, t)); }
  double v_hat(double beta2) const { return v / (1 - std::pow(beta2, t)); }

  void step(const Adam& o, double lr, double g) {
    average(o.beta1, o.beta2, g + o.weight_decay * w);
    if (o.eps_placement == EpsilonPlacement::after_correction) {
      w -= lr * m_hat(o.beta1) / (std::sqrt(v_hat(o.beta2)) + o.eps);
    } else {
      w -= lr * std::sqrt(1 - std::pow(o.beta2, t)) / (1 - std::pow(o.beta1, t)) * m /
           (std::sqrt(v) + o.eps);
    }
  }
  void step(const AdamW& o, double lr, double g) {
    w *= 1 - lr * o.weight_decay;
    average(o.beta1, o.beta2, g);
    w -= lr * m_hat(o.beta1) / (std::sqrt(v_hat(o.beta2)) + o.eps);
  }
  void step(const RAdam& o, double lr, double g) {
    average(o.beta1, o.beta2, g);
    const double limit = 2 / (1 - o.beta2) - 1;
    const double rho = limit - 2 * t * std::pow(o.beta2, t) / (1 - std::pow(o.beta2, t));
    const bool paper = o.rectification == Rectification::paper;
    const bool rectified = paper ? rho > 4 : rho >= 5;
    if (!rectified && !paper) return;
    w -= lr * o.weight_decay * w;
    if (!rectified) {
      w -= lr * m_hat(o.beta1);
      return;
    }
    const double r = std::sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho));
    w -= lr * r * std::sqrt(1 - std::pow(o.beta2, t)) / (1 - std::pow(o.beta1, t)) * m /
         (std::sqrt(v) + o.eps);
  }
};

torch::Tensor ramp(int64_t count, torch::ScalarType type) {
  return torch::linspace(-1, 2, count, torch::kDouble).to(type);
}

/// A gradient that changes with the step and from element to element.
torch::Tensor gradient_at(int64_t step, const torch::Tensor& value) {
  const torch::Tensor places = torch::arange(value.numel(), torch::kDouble).view(value.sizes());
  return torch::sin(places * 0.7 + static_cast<double>(step)).to(value.scalar_type());
}

void train(Optimizer& optimizer, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) {
    for (OptimizedParameter parameter : optimizer.parameters()) {
      parameter.value.mutable_grad() = gradient_at(step, parameter.value);
    }
    optimizer.step(0.01);
  }
}

/// Largest distance of 30 steps on `value` from the naive rule.
template <class Options>
double distance_from_naive(const Options& options, const torch::Tensor& value) {
  std::vector<Naive> naive;
  for (int64_t i = 0; i < value.numel(); ++i) naive.push_back({value.view(-1)[i].item<double>()});
  Optimizer optimizer(options, {{"w", value}});
  train(optimizer, 1, 30);
  double distance = 0;
  for (int64_t i = 0; i < value.numel(); ++i) {
    for (int64_t t = 1; t <= 30; ++t) {
      naive[i].step(options, 0.01, gradient_at(t, value).view(-1)[i].item<double>());
    }
    distance = std::max(distance, std::abs(value.view(-1)[i].item<double>() - naive[i].w));
  }
  return distance;
}

template <class Options>
void expect_like_naive(const Options& options) {
  EXPECT_LT(distance_from_naive(options, ramp(37, torch::kDouble)), 1e-14);
  EXPECT_LT(distance_from_naive(options, ramp(37, torch::kFloat)), 1e-6);
  const torch::Tensor transposed = ramp(36, torch::kFloat).view({4, 9}).t();
  ASSERT_FALSE(transposed.is_contiguous());
  const torch::Tensor copy = transposed.clone(at::MemoryFormat::Contiguous);
  Optimizer strided(options, {{"w", transposed}}), contiguous(options, {{"w", copy}});
  train(strided, 1, 30);
  train(contiguous, 1, 30);
  EXPECT_TRUE(torch::allclose(transposed, copy, 0, 1e-6));
}

TEST(Optimizer, AdamFollowsThePaper) {
  expect_like_naive(Adam{});
  expect_like_naive(Adam{.beta2 = 0.98, .eps = 1e-3, .weight_decay = 0.1});
}

TEST(Optimizer, AdamWithEpsilonInsideFollowsFairseq) {
  expect_like_naive(Adam{.eps = 1e-3, .eps_placement = EpsilonPlacement::inside_correction});
}

TEST(Optimizer, AdamWDecaysTheWeightItself) { expect_like_naive(AdamW{.weight_decay = 1}); }

TEST(Optimizer, RAdamFollowsTheAuthorsCode) {
  expect_like_naive(RAdam{.beta2 = 0.98, .weight_decay = 0.1});
}

TEST(Optimizer, RAdamFollowsThePaper) {
  expect_like_naive(
      RAdam{.beta2 = 0.98, .weight_decay = 0.1, .rectification = Rectification::paper});
}

TEST(Optimizer, SmallDecayIsNotLostInFloat) {
  const torch::Tensor value = torch::ones({1});
  Optimizer optimizer(AdamW{.weight_decay = 1e-4}, {{"w", value}});
  for (int step = 0; step < 10000; ++step) optimizer.step(1e-3);
  EXPECT_NEAR(value.item<float>(), 1 - 1e-3, 2e-4);
}

TEST(Optimizer, HalfPrecisionWeightsKeepFloatMoments) {
  const torch::Tensor value = torch::ones({3}, torch::kBFloat16);
  Optimizer optimizer(Adam{}, {{"w", value}});
  train(optimizer, 1, 1);
  EXPECT_EQ(optimizer.state()[1].value.scalar_type(), torch::kFloat);
  EXPECT_EQ(value.scalar_type(), torch::kBFloat16);
  EXPECT_LT(value[1].item<float>(), 1);
}

TEST(Optimizer, LearningRateScaleAndDecayBelongToTheParameter) {
  const auto fresh = [] { return ramp(5, torch::kDouble); };
  const torch::Tensor scaled = fresh(), plain = fresh(), exempt = fresh(), undecayed = fresh();
  Optimizer first(AdamW{.weight_decay = 0.5},
                  {{"scaled", scaled, 0.5}, {"exempt", exempt, 1, {.role = Role::bias}}});
  Optimizer second(AdamW{.weight_decay = 0.5}, {{"plain", plain}});
  Optimizer third(AdamW{.weight_decay = 0}, {{"undecayed", undecayed}});
  train(first, 1, 1);
  scaled.mutable_grad() = torch::Tensor();
  plain.mutable_grad() = gradient_at(1, plain);
  second.step(0.005);
  train(third, 1, 1);
  EXPECT_TRUE(torch::allclose(scaled, plain, 0, 1e-15));
  EXPECT_TRUE(torch::equal(exempt, undecayed));
}

// C31: a row of an embedding table that a batch does not contain.
TEST(Optimizer, C31UnseenRowMovesOnByItsMomentum) {
  const torch::Tensor value = torch::ones({1});
  Optimizer optimizer(Adam{}, {{"w", value}});
  value.mutable_grad() = torch::ones({1});
  optimizer.step(0.1);
  EXPECT_NEAR(value.item<float>(), 0.9, 1e-6);
  value.mutable_grad().zero_();
  optimizer.step(0.1);
  EXPECT_NEAR(value.item<float>(), 0.832994, 1e-6);
}

TEST(Optimizer, AbsentGradientIsAGradientOfZero) {
  const torch::Tensor absent = torch::ones({4}), zero = torch::ones({4});
  Optimizer optimizer(AdamW{}, {{"absent", absent}, {"zero", zero}});
  train(optimizer, 1, 3);
  optimizer.clear_gradients();
  EXPECT_FALSE(absent.grad().defined());
  zero.mutable_grad() = torch::zeros({4});
  optimizer.step(0.1);
  EXPECT_TRUE(torch::equal(absent, zero));
}

// C28: micro-batch 1 has one token with loss 2, micro-batch 2 nine tokens with losses that sum
// to 9.
TEST(Optimizer, C28AccumulatedSumsEqualTheBigBatch) {
  const auto updated = [](const std::vector<std::vector<float>>& micro_batches) {
    torch::Tensor w = torch::ones({1}, torch::requires_grad());
    int64_t tokens = 0;
    for (const std::vector<float>& losses : micro_batches) {
      (w * torch::tensor(losses)).sum().backward();
      tokens += static_cast<int64_t>(losses.size());
    }
    Optimizer optimizer(Adam{.eps = 1}, {{"w", w}});
    EXPECT_NEAR(gradient_norm(optimizer.parameters()) / tokens, 1.1, 1e-6);
    optimizer.step(0.1, 1.0 / tokens);
    return w.item<float>();
  };
  const std::vector<float> nine(9, 1.0f), ten{2, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(updated({{2}, nine}), updated({ten}));
}

// C30: every target of the batch is ignored, so the gradient is zero.
TEST(Optimizer, C30BatchWithoutTargetsLeavesFreshWeightsAlone) {
  const torch::Tensor value = torch::ones({3});
  Optimizer optimizer(Adam{}, {{"w", value}});
  value.mutable_grad() = torch::zeros({3});
  optimizer.step(0.1, clip_scale(gradient_norm(optimizer.parameters()), 1).value());
  EXPECT_TRUE(torch::equal(value, torch::ones({3})));
  EXPECT_THROW(optimizer.step(0.1, std::numeric_limits<double>::infinity()), RecipeError);
  EXPECT_EQ(optimizer.steps(), 1);
}

// C34: a step whose gradient is not finite never happens.
TEST(Optimizer, C34SkippedStepLeavesStateCountAndScheduleAlone) {
  const torch::Tensor value = ramp(8, torch::kFloat);
  Optimizer optimizer(RAdam{}, {{"w", value}});
  const Schedule schedule = make_schedule(InverseSqrtOptions{.warmup = 10}, 1e-3, 100);
  const auto attempt = [&] {
    const auto scale = clip_scale(gradient_norm(optimizer.parameters()), 1);
    if (scale) optimizer.step(schedule(optimizer.steps() + 1), *scale);
    return scale.has_value();
  };
  train(optimizer, 1, 7);
  const torch::Tensor before = value.clone();
  NamedTensors state = optimizer.state();
  for (auto& [name, tensor] : state) tensor = tensor.clone();

  value.mutable_grad()[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(attempt());
  EXPECT_TRUE(torch::equal(value, before));
  EXPECT_EQ(optimizer.steps(), 7);
  EXPECT_EQ(schedule(optimizer.steps() + 1), schedule(8));
  for (size_t i = 0; i < state.size(); ++i) {
    EXPECT_TRUE(torch::equal(state[i].value, optimizer.state()[i].value)) << state[i].name;
  }
  value.mutable_grad() = gradient_at(8, value);
  EXPECT_TRUE(attempt());
  EXPECT_EQ(optimizer.steps(), 8);
}

TEST(Optimizer, ResultDoesNotDependOnRepetitionOrThreads) {
  const auto trained = [](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    const torch::Tensor value = ramp(200003, torch::kFloat);
    Optimizer optimizer(RAdam{.weight_decay = 0.1}, {{"w", value}});
    for (int64_t step = 1; step <= 8; ++step) {
      value.mutable_grad() = gradient_at(step, value);
      optimizer.step(1e-3, clip_scale(gradient_norm(optimizer.parameters()), 1).value());
    }
    at::set_num_threads(before);
    return value;
  };
  const torch::Tensor value = trained(2);
  EXPECT_TRUE(torch::equal(value, trained(2)));
  EXPECT_TRUE(torch::equal(value, trained(1)));
}

TEST(Optimizer, ResumeEqualsAnUninterruptedRunBitForBit) {
  const torch::Tensor whole = ramp(1001, torch::kFloat), half = whole.clone();
  Optimizer uninterrupted(RAdam{.weight_decay = 0.1}, {{"w", whole}});
  Optimizer interrupted(RAdam{.weight_decay = 0.1}, {{"w", half}});
  train(uninterrupted, 1, 20);
  train(interrupted, 1, 9);
  const torch::Tensor continued = half.clone();
  Optimizer resumed(RAdam{.weight_decay = 0.1}, {{"w", continued}});
  resumed.load_state(interrupted.state());
  EXPECT_EQ(resumed.steps(), 9);
  train(resumed, 10, 20);
  EXPECT_TRUE(torch::equal(whole, continued));
}

TEST(Optimizer, UpdateIsSeenByAutograd) {
  torch::Tensor value = torch::ones({2}, torch::requires_grad());
  const torch::Tensor loss = (value * value).sum();
  Optimizer optimizer(Adam{}, {{"w", value}});
  optimizer.step(0.1);
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST(Optimizer, ParametersItCannotServeAreRefused) {
  const torch::Tensor value = torch::ones({1});
  EXPECT_THROW(Optimizer(Adam{}, {{"w", value}, {"w", value}}), RecipeError);
  EXPECT_THROW(Optimizer(Adam{}, {{"w", torch::ones({1}, torch::kLong)}}), RecipeError);
}

}  // namespace
}  // namespace ballast
