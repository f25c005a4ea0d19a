#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "ballast/kernels/bf16.h"
#include "ballast/kernels/comparison.h"
#include "ballast/kernels/linear.h"

namespace ballast {
namespace {

/// [fan_in, fan_out] beside and past whole vectors and blocks.
const std::vector<std::array<int64_t, 2>> shapes{
    {1, 1}, {16, 8}, {40, 13}, {129, 1031}, {768, 200}};

/// Gradients are off, or the product is another one.
class FewRows : public ::testing::Test {
 protected:
  torch::NoGradGuard no_grad_;
};

LinearOptions in(Precision precision, const torch::Tensor& weight, LinearOptions options = {}) {
  if (precision == Precision::bf16) options.bf16_weight = rounded(weight);
  return options;
}

TEST_F(FewRows, AgreeWithTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const auto& [from, to] : shapes) {
      for (const int64_t rows : {0, 1, 2, 3, 4, 7, 16}) {
        const torch::Tensor x = drawn({rows, from}, 1), weight = drawn({to, from}, 2);
        const torch::Tensor bias = drawn({to}, 3);
        for (const Precision precision : {Precision::float32, Precision::bf16}) {
          const auto options =
              in(precision, weight, {.multiplier = 0.5, .activation = {Elementwise::gelu}});
          const torch::Tensor y = linear(x, weight, bias, options);
          auto exact = options;
          const torch::Tensor wanted = linear_reference(
              x.to(torch::kFloat64), weight.to(torch::kFloat64), bias.to(torch::kFloat64), exact);
          EXPECT_LT(relative_error(y, wanted), 1e-5) << from << " " << to << " " << rows;
        }
      }
    }
  });
}

TEST_F(FewRows, HaveTheBitsOfEachRowAloneForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const auto& [from, to] : shapes) {
    const torch::Tensor x = drawn({few_rows, from}, 1), weight = drawn({to, from}, 2);
    for (const Precision precision : {Precision::float32, Precision::bf16}) {
      at::set_num_threads(1);
      std::vector<torch::Tensor> alone;
      for (int64_t row = 0; row < few_rows; ++row) {
        alone.push_back(linear(x.slice(0, row, row + 1), weight, {}, in(precision, weight)));
      }
      at::set_num_threads(3);
      for (const int64_t count : {int64_t{2}, int64_t{5}, few_rows}) {
        const torch::Tensor together =
            linear(x.slice(0, 0, count), weight, {}, in(precision, weight));
        EXPECT_TRUE(torch::equal(together, torch::cat(alone).slice(0, 0, count)))
            << from << " " << to << " " << count;
      }
    }
  }
  at::set_num_threads(before);
}

TEST_F(FewRows, OfAGatedPairWithANarrowResult) {
  const torch::Tensor x = drawn({3, 32}, 1), weight = drawn({48, 32}, 2);
  LinearOptions options{.activation = {Elementwise::silu, true}};
  options.bf16_weight = rounded(weight);
  options.result = Precision::bf16;
  const torch::Tensor y = linear(x, weight, {}, options);
  EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
  EXPECT_LT(relative_error(y.to(torch::kFloat32),
                           linear_reference(x, weight, {}, options).to(torch::kFloat32)),
            1e-2);
  const torch::Tensor again =
      linear(y, drawn({8, 24}, 3), {}, {.bf16_weight = rounded(drawn({8, 24}, 3))});
  EXPECT_EQ(again.sizes(), (std::vector<int64_t>{3, 8}));
}

TEST_F(FewRows, OfAnActivationWithoutALoop) {
  const torch::Tensor x = drawn({2, 20}, 1), weight = drawn({9, 20}, 2);
  const LinearOptions options{.activation = {Elementwise::mish}};
  EXPECT_LT(
      relative_error(linear(x, weight, {}, options), linear_reference(x, weight, {}, options)),
      1e-5);
}

}  // namespace
}  // namespace ballast
