#include "ballast/kernels/dropout.h"

#include <gtest/gtest.h>

#include "ballast/base/philox.h"
#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr DropMask mask{0.3, 0x123456789ABCDEF};

TEST(Dropout, HasTheBitsOfTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const int64_t columns : {1, 2, 7, 16, 33, 512}) {
      const torch::Tensor x = drawn({5, columns}, 1);
      EXPECT_TRUE(dropout(x, mask).equal(dropout_reference(x, mask))) << columns;
    }
  });
}

TEST(Dropout, ReadsTheWordOfPhiloxThatItsHeaderNames) {
  const torch::Tensor y = dropout(torch::ones({3, 10}), mask);
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 10; ++c) {
      const bool kept = philox(mask.key, c / 4, r)[c % 4] >= drop_threshold(mask.p);
      EXPECT_FLOAT_EQ(y[r][c].item<float>(), kept ? 1 / 0.7F : 0);
    }
  }
}

TEST(Dropout, PassesGradientsThroughTheSameMaskForAnyNumberOfThreads) {
  const Kernel kernel = [](const auto& t) { return dropout(t[0], mask); };
  const torch::Tensor x = drawn({900, 19}, 1);
  EXPECT_TRUE(repeats_bit_for_bit(kernel, {x}));
  EXPECT_TRUE(same_for_any_threads(kernel, {x}));
  const Kernel reference = [](const auto& t) { return dropout_reference(t[0], mask); };
  EXPECT_LT(error_against_reference(kernel, reference, {x}), 1e-6);
  EXPECT_LT(finite_difference_error(reference, {x}), 1e-7);
}

TEST(Dropout, RemovesTheShareAskedForAndKeepsTheMean) {
  const torch::Tensor y = dropout(torch::ones({500, 400}), mask);
  EXPECT_NEAR(y.eq(0).to(torch::kFloat32).mean().item<double>(), 0.3, 0.005);
  EXPECT_NEAR(y.mean().item<double>(), 1.0, 0.007);
}

TEST(Dropout, IsTheIdentityWhenNothingIsRemovedOrThereIsNothing) {
  const torch::Tensor x = drawn({2, 3}, 1), none = drawn({0, 3}, 1);
  EXPECT_TRUE(dropout(x, {}).equal(x));
  EXPECT_TRUE(dropout(none, mask).equal(none));
}

}  // namespace
}  // namespace ballast
