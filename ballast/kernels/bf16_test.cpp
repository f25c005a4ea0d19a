#include "ballast/kernels/bf16.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <bit>

#include "ballast/base/error.h"
#include "ballast/kernels/comparison.h"
#include "ballast/kernels/matmul.h"

namespace ballast {
namespace {

/// The upper halves of what `rounded` makes of these bits.
std::vector<uint16_t> rounded_bits(const std::vector<uint32_t>& bits) {
  std::vector<float> values;
  for (const uint32_t each : bits) values.push_back(std::bit_cast<float>(each));
  const torch::Tensor result = rounded(torch::tensor(values));
  const uint16_t* first = bf16_data(result);
  return {first, first + result.numel()};
}

TEST(Rounded, GoesToTheNearestAndFromTheMiddleToTheEvenOne) {
  on_every_target([] {
    EXPECT_EQ(
        rounded_bits({0x3F800000, 0x3F807FFF, 0x3F808000, 0x3F808001, 0x3F818000, 0xBF808001}),
        (std::vector<uint16_t>{0x3F80, 0x3F80, 0x3F80, 0x3F81, 0x3F82, 0xBF81}));
  });
}

TEST(Rounded, KeepsZerosInfinitiesAndDenormals) {
  on_every_target([] {
    EXPECT_EQ(
        rounded_bits({0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x00010000, 0x00008000,
                      0x00008001, 0x00018000}),
        (std::vector<uint16_t>{0x0000, 0x8000, 0x7F80, 0xFF80, 0x0001, 0x0000, 0x0001, 0x0002}));
  });
}

TEST(Rounded, TheLargestNumbersBecomeInfinite) {
  EXPECT_EQ(rounded_bits({0x7F7F7FFF, 0x7F7F8000, 0xFF7FFFFF}),
            (std::vector<uint16_t>{0x7F7F, 0x7F80, 0xFF80}));
}

TEST(Rounded, KeepsEveryNotANumber) {
  on_every_target([] {
    for (const uint16_t each :
         rounded_bits({0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF})) {
      EXPECT_GT(each & 0x7FFF, 0x7F80);
    }
  });
}

TEST(Rounded, AgreesWithLibtorchForAllUpperHalves) {
  std::vector<uint32_t> bits;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    if ((upper & 0x7F80) == 0x7F80) continue;  // infinities and NaN stand above
    for (const uint32_t lower : {0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF}) {
      bits.push_back(upper << 16 | lower);
    }
  }
  const torch::Tensor x =
      torch::from_blob(bits.data(), {static_cast<int64_t>(bits.size())}, torch::kFloat32);
  on_every_target([&] { EXPECT_TRUE(rounded(x).equal(x.to(torch::kBFloat16))); });
}

TEST(Rounded, TakesEmptyOddAndTransposedTensorsOfAnyType) {
  on_every_target([] {
    for (const int64_t count : {0, 1, 7, 33}) {
      const torch::Tensor x = drawn({count}, 1);
      EXPECT_TRUE(rounded(x).equal(x.to(torch::kBFloat16))) << count;
    }
  });
  const torch::Tensor x = drawn({5, 3}, 1);
  EXPECT_TRUE(rounded(x.t()).equal(x.t().to(torch::kBFloat16)));
  EXPECT_TRUE(rounded(x.to(torch::kFloat64)).equal(x.to(torch::kBFloat16)));
}

TEST(Bf16Copy, IsMadeOnceWhileTheWeightStays) {
  const torch::Tensor weight = drawn({4, 3}, 1).set_requires_grad(true);
  Bf16Copy copy;
  const torch::Tensor first = copy.of(weight);
  EXPECT_TRUE(first.equal(weight.to(torch::kBFloat16)));
  EXPECT_EQ(copy.of(weight).data_ptr(), first.data_ptr());
}

TEST(Bf16Copy, SeesAChangeInPlaceAndLeavesTheCopyMadeBefore) {
  const torch::Tensor weight = drawn({4, 3}, 1).set_requires_grad(true);
  Bf16Copy copy;
  const torch::Tensor first = copy.of(weight), before = first.clone();
  {
    const torch::NoGradGuard no_grad;
    weight.select(0, 1).mul_(3);
  }
  EXPECT_TRUE(copy.of(weight).equal(weight.to(torch::kBFloat16)));
  EXPECT_TRUE(first.equal(before));
}

TEST(Bf16Copy, SeesThatTheWeightHasMovedToOtherMemory) {
  torch::Tensor weight = drawn({4, 3}, 1).set_requires_grad(true);
  Bf16Copy copy;
  for (uint64_t seed = 2; seed < 6; ++seed) {
    copy.of(weight);
    weight.set_data(drawn({4, 3}, seed));
    EXPECT_TRUE(copy.of(weight).equal(weight.to(torch::kBFloat16))) << seed;
  }
}

TEST(Bf16Copy, OfATensorWithoutVersionIsMadeEachTime) {
  const c10::InferenceMode inference;
  const torch::Tensor weight = drawn({4, 3}, 1);
  Bf16Copy copy;
  copy.of(weight);
  weight.mul_(3);
  EXPECT_TRUE(copy.of(weight).equal(weight.to(torch::kBFloat16)));
}

torch::Tensor product(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::matmul(a.to(torch::kFloat64), b.to(torch::kFloat64));
}

TEST(Matmul, OfBfloat16SumsInFloat32ForEveryLayoutAndOddShapes) {
  for (const auto& [m, k, n] : {std::array{1, 1, 1}, {3, 5, 7}, {33, 700, 20}, {2, 1, 65}}) {
    const torch::Tensor a = rounded(drawn({m, k}, 1)), b = rounded(drawn({k, n}, 2));
    const torch::Tensor bias = drawn({n}, 3), expected = product(a, b);
    torch::Tensor out = torch::empty({m, n});
    matmul_into(out, a, b, bias);
    EXPECT_LT(relative_error(out, expected + bias), 1e-6);
    matmul_into(out, rounded(a.t()).t(), rounded(b.t()).t(), {}, 0.5F);
    EXPECT_LT(relative_error(out, expected * 0.5), 1e-6);
    add_matmul(out, a, b, 0.25F);
    EXPECT_LT(relative_error(out, expected * 0.75), 1e-6);
    torch::Tensor narrow = torch::empty({m, n}, torch::kBFloat16);
    matmul_into(narrow, a, b);
    EXPECT_LT(relative_error(narrow, expected), 4e-3);
  }
}

TEST(AddMatmul, AddsFloat32ProductsTooAndNothingOfNoColumns) {
  torch::Tensor out = torch::ones({3, 2});
  const torch::Tensor a = drawn({3, 4}, 1), b = drawn({4, 2}, 2);
  add_matmul(out, a, b);
  EXPECT_LT(relative_error(out, product(a, b) + 1), 1e-6);
  const torch::Tensor before = out.clone();
  add_matmul(out, torch::empty({3, 0}), torch::empty({0, 2}));
  EXPECT_TRUE(out.equal(before));
}

TEST(RefuseSlowPrecision, NamesTheOptionTheInstructionsFoundAndTheWayOut) {
  EXPECT_NO_THROW(refuse_slow_precision("train.precision", Precision::float32, torch::kCPU));
  EXPECT_NO_THROW(refuse_slow_precision("train.precision", Precision::bf16, torch::kCUDA));
  std::string text;
  try {
    refuse_slow_precision("train.precision", Precision::bf16, torch::kCPU);
  } catch (const RecipeError& error) {
    text = error.what();
  }
  EXPECT_EQ(text.empty(), bf16_is_fast());
  if (bf16_is_fast()) return;
  EXPECT_TRUE(text.starts_with("train.precision = \"bf16\": this processor has no bf16")) << text;
  EXPECT_TRUE(text.ends_with("set train.precision = \"float32\"")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace ballast
