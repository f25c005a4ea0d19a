#include "ballast/optim/rules.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/linalg.h>
#include <torch/utils.h>

#include "ballast/optim/optimizer.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<OptimizerChoice> rows() {
  std::vector<OptimizerChoice> all;
  for (const std::string& name : kind_names<OptimizerChoice>()) {
    all.push_back(*ChoiceTraits<OptimizerChoice>::make(name));
  }
  all.emplace_back(Sgd{.momentum = 0.9, .nesterov = true, .weight_decay = 0.1});
  all.emplace_back(Adafactor{.beta1 = 0.9, .weight_decay = 0.1, .relative_step = true});
  all.emplace_back(Muon{.scale = MuonScale::match_adam, .weight_decay = 0.1, .rest = Lion{}});
  return all;
}

/// Two matrices, one of them a stack of three, a table, a vector, and a single number.
struct Weights {
  explicit Weights(torch::ScalarType type = torch::kFloat) {
    add("tall", {90, 40}, {.role = Role::hidden}, type);
    add("stacked", {3 * 8, 20}, {.role = Role::hidden, .stacked = 3}, type);
    add("table", {50, 8}, {.role = Role::target_embedding}, type);
    add("gain", {33}, {.role = Role::norm_gain}, type);
    add("number", {}, {.role = Role::branch_coefficient}, type);
  }

  void add(const std::string& name, torch::IntArrayRef shape, const ParameterFacts& facts,
           torch::ScalarType type) {
    const int64_t count = c10::multiply_integers(shape);
    const auto values = torch::sin(torch::arange(count, torch::kDouble) + 1).view(shape);
    all.push_back({name, values.to(type), 1, facts});
  }

  void train(Optimizer& optimizer, int64_t first, int64_t last, double gradient_scale = 0.5) {
    for (int64_t step = first; step <= last; ++step) {
      for (OptimizedParameter& each : all) {
        const auto places = torch::arange(each.value.numel(), torch::kDouble);
        each.value.mutable_grad() = torch::cos(places * 0.7 + static_cast<double>(step))
                                        .view(each.value.sizes())
                                        .to(each.value.scalar_type());
      }
      optimizer.step(1e-3, gradient_scale);
    }
  }

  Weights copied() const {
    Weights copy = *this;
    for (OptimizedParameter& each : copy.all) each.value = each.value.clone();
    return copy;
  }

  std::vector<OptimizedParameter> all;
};

void expect_equal(const Weights& a, const Weights& b) {
  for (size_t i = 0; i < a.all.size(); ++i) {
    EXPECT_TRUE(torch::equal(a.all[i].value, b.all[i].value)) << a.all[i].name;
  }
}

class EveryRule : public ::testing::TestWithParam<OptimizerChoice> {};

TEST_P(EveryRule, MovesEveryWeightTheSameWithAnyNumberOfThreads) {
  const auto trained = [&](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    Weights weights;
    Optimizer optimizer(GetParam(), weights.all);
    weights.train(optimizer, 1, 7);  // odd: a sign cannot come back
    at::set_num_threads(before);
    return weights;
  };
  const Weights one = trained(1), fresh;
  expect_equal(one, trained(2));
  for (size_t i = 0; i < fresh.all.size(); ++i) {
    EXPECT_TRUE(torch::isfinite(one.all[i].value).all().item<bool>()) << fresh.all[i].name;
    EXPECT_FALSE(torch::equal(fresh.all[i].value, one.all[i].value)) << fresh.all[i].name;
  }
}

TEST_P(EveryRule, ResumesBitForBit) {
  Weights whole;
  Optimizer uninterrupted(GetParam(), whole.all);
  whole.train(uninterrupted, 1, 7);
  Weights continued = whole.copied();
  Optimizer resumed(GetParam(), continued.all);
  resumed.load_state(uninterrupted.state());
  whole.train(uninterrupted, 8, 15);
  continued.train(resumed, 8, 15);
  expect_equal(whole, continued);
}

TEST_P(EveryRule, FloatFollowsDouble) {
  Weights wide(torch::kDouble), narrow(torch::kFloat);
  Optimizer in_double(GetParam(), wide.all), in_float(GetParam(), narrow.all);
  wide.train(in_double, 1, 8);
  narrow.train(in_float, 1, 8);
  for (size_t i = 0; i < wide.all.size(); ++i) {
    EXPECT_TRUE(
        torch::allclose(wide.all[i].value, narrow.all[i].value.to(torch::kDouble), 1e-4, 1e-6))
        << wide.all[i].name;
  }
}

TEST_P(EveryRule, AStackIsAsManyMatricesOfTheirOwn) {
  Weights together, apart;
  const OptimizedParameter stack = apart.all[1];
  apart.all.clear();
  for (int64_t i = 0; i < 3; ++i) {
    apart.all.push_back(
        {std::to_string(i), stack.value.narrow(0, 8 * i, 8).clone(), 1, {.role = Role::hidden}});
  }
  Optimizer whole(GetParam(), together.all), parts(GetParam(), apart.all);
  for (int64_t step = 1; step <= 5; ++step) {
    together.train(whole, step, step);
    for (int64_t i = 0; i < 3; ++i) {
      apart.all[i].value.mutable_grad() = together.all[1].value.grad().narrow(0, 8 * i, 8);
    }
    parts.step(1e-3, 0.5);
  }
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(torch::equal(together.all[1].value.narrow(0, 8 * i, 8), apart.all[i].value)) << i;
  }
}

TEST_P(EveryRule, IsSeenByAutograd) {
  torch::Tensor value = torch::ones({4, 4}, torch::requires_grad());
  const torch::Tensor loss = (value * value).sum();
  Optimizer optimizer(GetParam(), {{"w", value, 1, {.role = Role::hidden}}});
  value.mutable_grad() = torch::ones({4, 4});
  for (int step = 0; step < 6; ++step) optimizer.step(0.1);  // radam is still until step 6
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST_P(EveryRule, AWeightThatIsToBeFrozenCanBeLeftOut) {
  Weights weights;
  const torch::Tensor frozen = weights.all.back().value.clone();
  std::vector<OptimizedParameter> without = weights.all;
  without.pop_back();
  Optimizer optimizer(GetParam(), without);
  weights.train(optimizer, 1, 3);
  EXPECT_TRUE(torch::equal(weights.all.back().value, frozen));
}

OptimizerChoice with_decay(OptimizerChoice choice, double weight_decay) {
  const auto set = [&](auto& rule) {
    rule.weight_decay = weight_decay;
    if constexpr (requires { rule.rest; }) {
      std::visit([&](auto& rest) { rest.weight_decay = weight_decay; }, rule.rest);
    }
  };
  std::visit(set, choice);
  return choice;
}

TEST_P(EveryRule, WhatScalesTheDecayOfAParameterScalesTheOptionForIt) {
  const auto trained = [](const OptimizerChoice& choice, double decay_scale) {
    Weights weights;
    for (OptimizedParameter& each : weights.all) each.decay_scale = decay_scale;
    Optimizer optimizer(choice, weights.all);
    weights.train(optimizer, 1, 8);
    return weights;
  };
  const Weights scaled = trained(with_decay(GetParam(), 0.1), 4);
  expect_equal(scaled, trained(with_decay(GetParam(), 0.4), 1));
  EXPECT_FALSE(
      torch::equal(scaled.all[0].value, trained(with_decay(GetParam(), 0.1), 1).all[0].value));
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryRule, ::testing::ValuesIn(rows()), [](const auto& info) {
  return std::string(info_of(info.param).name) + "_" + std::to_string(info.index);
});

// A parameterisation that makes every gradient smaller has to make what is added to it smaller too.
TEST(Rules, EpsGoesWithTheGradientsSize) {
  const auto trained = [](const OptimizerChoice& choice, double scale, double epsilon_scale) {
    Weights weights;
    for (OptimizedParameter& each : weights.all) each.epsilon_scale = epsilon_scale;
    Optimizer optimizer(choice, weights.all);
    weights.train(optimizer, 1, 8, scale);
    return weights;
  };
  const double less = 1.0 / 1024;
  for (const OptimizerChoice& choice : std::initializer_list<OptimizerChoice>{
           RAdam{.eps = 0.1}, Adam{.eps = 0.1}, AdamW{.eps = 0.1}, StableAdamW{.eps = 0.1},
           Lamb{.eps = 0.1}, Adafactor{.eps = 0.1}}) {
    const Weights whole = trained(choice, 1, 1);
    expect_equal(trained(choice, less, less), whole);
    EXPECT_FALSE(torch::equal(trained(choice, less, 1).all[0].value, whole.all[0].value))
        << info_of(choice).name;
  }
}

TEST(Rules, MuonServesMatricesAndItsRestTheOthers) {
  const OptimizerChoice choice = Muon{.rest = Sgd{.momentum = 0}};
  Optimizer optimizer(choice, Weights().all);
  std::vector<std::string> names;
  for (const NamedTensor& each : optimizer.state()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("steps", "tall.momentum", "stacked.momentum"));
  EXPECT_EQ(update_size(choice, {.role = Role::hidden}), UpdateSize::spectral);
  EXPECT_EQ(update_size(choice, {.role = Role::output}), UpdateSize::gradient);
  EXPECT_EQ(update_size(Muon{.scale = MuonScale::match_adam}, {.role = Role::hidden}),
            UpdateSize::full_rank);
}

TEST(Rules, TheRestGoesThroughTheScheduleFromAPeakOfItsOwn) {
  const auto moved = [](const OptimizerChoice& choice, double lr) {
    Weights weights;
    Optimizer optimizer(choice, weights.all);
    for (OptimizedParameter& each : weights.all) {
      each.value.mutable_grad() = torch::ones_like(each.value);
    }
    optimizer.step(lr);
    return weights.all[3].value;
  };
  const Sgd rest{.lr = 0.5, .momentum = 0};
  EXPECT_TRUE(torch::allclose(moved(Muon{.lr = 0.02, .rest = rest}, 0.01), moved(rest, 0.25)));
}

TEST(Rules, AdafactorKeepsARowAndAColumnOfAMatrix) {
  Optimizer optimizer(Adafactor{}, Weights().all);
  const NamedTensors state = optimizer.state();
  EXPECT_EQ(state[1].name, "tall.row_mean");
  EXPECT_EQ(state[1].value.sizes(), (std::vector<int64_t>{90}));
  EXPECT_EQ(state[2].value.sizes(), (std::vector<int64_t>{40}));
  EXPECT_EQ(state[3].value.sizes(), (std::vector<int64_t>{3, 8}));
  EXPECT_EQ(state[4].value.sizes(), (std::vector<int64_t>{3, 20}));
  EXPECT_EQ(least_state_per_weight(Adafactor{}), 0);
  EXPECT_EQ(least_state_per_weight(AdamW{}), 2);
  EXPECT_EQ(least_state_per_weight(Muon{}), 1);
}

// Shazeer and Stern 2018: min(lr, 1 / sqrt(t)).
TEST(Rules, AdafactorsRelativeStepFalls) {
  const auto step_at = [](int64_t t) {
    const torch::Tensor w = torch::zeros({1}, torch::kDouble);
    const ParameterStep step{.value = w,
                             .gradient = torch::ones({1}, torch::kDouble),
                             .state = {{torch::ones({1}, torch::kDouble)}},
                             .lr = 0.1};
    Adafactor{.scale_parameter = false, .relative_step = true}.update({&step, 1}, t);
    return -w.item<double>();
  };
  EXPECT_NEAR(step_at(4), 0.1, 1e-12);
  EXPECT_NEAR(step_at(400), 0.05, 1e-12);
}

TEST(Rules, ARateThatFallsByItselfIsNotToFallTwice) {
  const auto found = optimizer_problems(Adafactor{.relative_step = true}, CosineOptions{});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].option, "relative_step");
  EXPECT_THAT(found[0].text, HasSubstr("choose schedule \"constant\""));
  EXPECT_TRUE(optimizer_problems(Adafactor{.relative_step = true}, ConstantOptions{}).empty());
  const Muon muon{.rest = Adafactor{.relative_step = true}};
  EXPECT_EQ(optimizer_problems(muon, CosineOptions{})[0].option, "rest.relative_step");
}

TEST(Rules, OptionsThatContradictEachOtherAreToldWithTheirPlace) {
  const auto found = optimizer_problems(Sgd{.momentum = 0, .nesterov = true}, ConstantOptions{});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].option, "nesterov");
}

TEST(Rules, AStackThatCannotBeCutIsRefused) {
  const ParameterFacts facts{.role = Role::hidden, .stacked = 3};
  EXPECT_THROW(Optimizer(Muon{}, {{"w", torch::ones({8, 2}), 1, facts}}), std::exception);
}

}  // namespace
}  // namespace ballast
