#include "ballast/kernels/newton_schulz.h"

#include <gtest/gtest.h>
#include <torch/linalg.h>
#include <torch/utils.h>

#include "ballast/kernels/select.h"

namespace ballast {
namespace {

torch::Tensor matrix(int64_t rows, int64_t columns, torch::ScalarType type) {
  const auto places = torch::arange(rows * columns, torch::kDouble);
  return torch::frac(torch::sin(places + 1) * 43758.5453).view({rows, columns}).to(type);
}

TEST(NewtonSchulz, SingularValuesComeNearOneAndVectorsStay) {
  for (const auto& [rows, columns] : {std::pair{12, 30}, {30, 12}, {17, 17}}) {
    const torch::Tensor given = matrix(rows, columns, torch::kDouble);
    const torch::Tensor made = newton_schulz(given, 5, 1e-7);
    const torch::Tensor values = torch::linalg_svdvals(made);
    EXPECT_GT(values.min().item<double>(), 0.5) << rows;
    EXPECT_LT(values.max().item<double>(), 1.3) << rows;
    // G = U S V^T and its result share vectors just when their product is symmetric.
    const torch::Tensor product = given.mm(made.t());
    EXPECT_TRUE(torch::allclose(product, product.t(), 0, 1e-10)) << rows;
  }
}

TEST(NewtonSchulz, FusedFollowsTheReference) {
  for (const auto& [rows, columns] : {std::pair{40, 100}, {100, 40}, {1, 7}}) {
    const torch::Tensor given = matrix(rows, columns, torch::kFloat);
    const torch::Tensor fused = newton_schulz(given, 5, 1e-7);
    const torch::Tensor reference = newton_schulz_reference(given.to(torch::kDouble), 5, 1e-7);
    EXPECT_TRUE(torch::allclose(fused.to(torch::kDouble), reference, 1e-3, 1e-4)) << rows;
  }
}

TEST(NewtonSchulz, ZerosStayZeros) {
  EXPECT_TRUE(torch::equal(newton_schulz(torch::zeros({3, 5}), 5, 1e-7), torch::zeros({3, 5})));
}

}  // namespace
}  // namespace ballast
