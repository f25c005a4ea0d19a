#include <gtest/gtest.h>

#include "ballast/kernels/bf16.h"
#include "ballast/kernels/comparison.h"
#include "ballast/kernels/linear.h"
#include "ballast/kernels/select.h"

namespace ballast {
namespace {

constexpr double tolerance = 2e-2;

/// The whole call of a layer: copies of weight and input, made outside.
torch::Tensor bf16_linear(const std::vector<torch::Tensor>& t, LinearOptions options) {
  options.bf16_weight = rounded(t[1]);
  return linear(t[0], t[1], t[2], options);
}

Kernel fused(const LinearOptions& options) {
  return [=](const auto& t) { return bf16_linear(t, options).to(t[0].scalar_type()); };
}

Kernel reference(const LinearOptions& options) {
  return [=](const auto& t) {
    return linear_reference(t[0], t[1], t[2], {options.multiplier, options.activation});
  };
}

std::vector<torch::Tensor> inputs(int64_t rows, int64_t fan_in, int64_t fan_out) {
  return {drawn({rows, fan_in}, 1), drawn({fan_out, fan_in}, 2) * 0.3, drawn({fan_out}, 3)};
}

/// Rows, fan-in, fan-out.
constexpr std::array<std::array<int64_t, 3>, 6> shapes{
    {{1, 1, 1}, {3, 5, 7}, {13, 16, 97}, {300, 33, 20}, {1, 64, 8}, {0, 5, 3}}};

TEST(Bf16Linear, AgreesWithTheReferenceForAllActivationsResultsAndOddShapes) {
  on_every_target([] {
    for (const Activation activation : activations) {
      for (const Precision result : {Precision::float32, Precision::bf16}) {
        for (const auto& [rows, fan_in, fan_out] : shapes) {
          const LinearOptions options{
              .multiplier = 0.7, .activation = activation, .result = result};
          EXPECT_LT(error_against_reference(fused(options), reference(options),
                                            inputs(rows, fan_in, activation.arguments() * fan_out)),
                    tolerance)
              << info_of(activation.function).name << ' ' << enum_name(result) << ' ' << rows << ' '
              << fan_in;
        }
      }
    }
  });
}

TEST(Bf16Linear, IsExactForOperandsThatBfloat16Holds) {
  std::vector<torch::Tensor> given = inputs(40, 33, 20);
  for (torch::Tensor& t : given) t = rounded(t).to(torch::kFloat32);
  const LinearOptions options{.multiplier = 0.7, .activation = Activation{Elementwise::gelu}};
  const torch::Tensor y = bf16_linear(given, options);
  for (torch::Tensor& t : given) t = t.to(torch::kFloat64);
  EXPECT_LT(relative_error(y, reference(options)(given)), 1e-6);
}

TEST(Bf16Linear, TheReferenceRoundsTheSameOperands) {
  const std::vector<torch::Tensor> given = inputs(40, 33, 20);
  for (const Precision result : {Precision::float32, Precision::bf16}) {
    const LinearOptions options{.activation = Activation{Elementwise::silu}, .result = result};
    const torch::Tensor y = bf16_linear(given, options);
    const ReferenceKernels scope;
    const torch::Tensor expected = bf16_linear(given, options);
    EXPECT_EQ(expected.scalar_type(), y.scalar_type());
    EXPECT_LT(relative_error(y, expected), result == Precision::bf16 ? 5e-3 : 1e-5);
  }
}

TEST(Bf16Linear, NeedsNoBiasAndNoMultiplier) {
  for (const double multiplier : {1.0, 0.25}) {
    const LinearOptions options{.multiplier = multiplier};
    std::vector<torch::Tensor> given = inputs(9, 12, 10);
    given[2] = torch::Tensor();
    EXPECT_LT(error_against_reference(fused(options), reference(options), given), tolerance);
  }
}

TEST(Bf16Linear, LayersCanShareACopyOfTheirInput) {
  const std::vector<torch::Tensor> t = inputs(9, 12, 10);
  LinearOptions options{.bf16_weight = rounded(t[1])};
  const torch::Tensor own = linear(t[0], t[1], t[2], options);
  options.bf16_x = rounded(t[0]);
  EXPECT_TRUE(linear(t[0], t[1], t[2], options).equal(own));
}

TEST(Bf16Linear, GoesOnFromABfloat16Result) {
  const torch::Tensor second = drawn({6, 20}, 4) * 0.3;
  const Kernel two = [&](const auto& t) {
    const LinearOptions in{.activation = Activation{Elementwise::gelu}, .result = Precision::bf16};
    return linear(bf16_linear(t, in), t[3], {}, {.bf16_weight = rounded(t[3])});
  };
  const Kernel expected = [&](const auto& t) {
    const torch::Tensor hidden =
        linear_reference(t[0], t[1], t[2], {1, Activation{Elementwise::gelu}});
    return linear_reference(hidden, t[3], {});
  };
  std::vector<torch::Tensor> given = inputs(50, 33, 20);
  given.push_back(second);
  on_every_target([&] { EXPECT_LT(error_against_reference(two, expected, given), tolerance); });
}

TEST(Bf16Linear, KeepsOnlyTheCopyOfItsInputForTheBackwardPass) {
  const torch::Tensor leaf = drawn({9, 12}, 1).set_requires_grad(true), weight = drawn({4, 12}, 2);
  torch::Tensor x = leaf * 2;
  const auto memory = x.storage().getWeakStorageImpl();
  const torch::Tensor y = linear(x, weight, {}, {.bf16_weight = rounded(weight)});
  x.reset();
  EXPECT_TRUE(memory.expired());
  y.sum().backward();
  EXPECT_LT(relative_error(leaf.grad(), weight.sum(0).mul(2).expand({9, 12})), tolerance);
}

TEST(Bf16Linear, RepeatsBitForBitAndItsBiasGradientDependsOnNoThreads) {
  const Kernel kernel = fused({.activation = Activation{Elementwise::gelu}});
  EXPECT_TRUE(repeats_bit_for_bit(kernel, inputs(700, 48, 200)));
  const auto bias_gradient = [&](int threads) {
    const ThreadScope scope(threads);
    return with_gradients(kernel, inputs(700, 48, 200))[3];
  };
  EXPECT_TRUE(bias_gradient(1).equal(bias_gradient(2)));
}

TEST(Bf16Linear, KeepsNotANumberThroughEveryActivation) {
  on_every_target([] {
    for (const Activation activation : activations) {
      for (const Precision result : {Precision::float32, Precision::bf16}) {
        const std::vector<torch::Tensor> t{
            torch::full({1, 9}, std::nan("")), torch::ones({8, 9}), {}};
        const torch::Tensor y = bf16_linear(t, {.activation = activation, .result = result});
        EXPECT_TRUE(y.isnan().all().item<bool>()) << info_of(activation.function).name;
      }
    }
  });
}

}  // namespace
}  // namespace ballast
