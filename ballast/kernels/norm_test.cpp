#include "ballast/kernels/norm.h"

#include <gtest/gtest.h>

#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5;
constexpr std::array placements{EpsPlacement::inside_root, EpsPlacement::outside_root,
                                EpsPlacement::clamp};
using Version = torch::Tensor (*)(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                  const NormSpec&);
constexpr std::array<Version, 2> versions{&ballast::norm, &norm_reference};

Kernel kernel(Version version, NormSpec spec) {
  return [=](const auto& t) { return version(t[0], t[1], t[2], spec); };
}

std::vector<torch::Tensor> inputs(int64_t rows, int64_t d) {
  return {drawn({rows, d}, 1) * 3 + 1, drawn({d}, 2), drawn({d}, 3)};
}

TEST(Norm, AgreesWithTheReferenceInAllForms) {
  on_every_target([] {
    for (const Statistic statistic : {Statistic::layer, Statistic::rms}) {
      for (const EpsPlacement placement : placements) {
        for (const auto& [rows, d] : {std::array{1, 2}, {3, 7}, {40, 64}, {200, 33}}) {
          const NormSpec spec{statistic, 0.1, placement};
          EXPECT_LT(error_against_reference(kernel(ballast::norm, spec),
                                            kernel(norm_reference, spec), inputs(rows, d)),
                    tolerance)
              << "placement " << static_cast<int>(placement) << ' ' << rows << ' ' << d;
        }
      }
    }
  });
}

TEST(Norm, NeedsNeitherGainNorBiasNorRows) {
  EXPECT_LT(error_against_reference(kernel(ballast::norm, {}), kernel(norm_reference, {}),
                                    {drawn({4, 10}, 1), {}, {}}),
            tolerance);
  EXPECT_EQ(ballast::norm(torch::zeros({0, 5}), {}, {}, {}).size(0), 0);
}

TEST(Norm, DoesNotDependOnRunOrThreads) {
  EXPECT_TRUE(repeats_bit_for_bit(kernel(ballast::norm, {}), inputs(3000, 40)));
  EXPECT_TRUE(same_for_any_threads(kernel(ballast::norm, {}), inputs(3000, 40)));
}

TEST(NormReference, HasTheGradientsOfFiniteDifferences) {
  for (const Statistic statistic : {Statistic::layer, Statistic::rms}) {
    for (const EpsPlacement placement : placements) {
      const NormSpec spec{statistic, 0.1, placement};
      EXPECT_LT(finite_difference_error(kernel(norm_reference, spec), inputs(5, 6)), 1e-7);
    }
  }
}

TEST(Norm, C01ConstantRowGivesZeros) {
  on_every_target([] {
    for (const Version version : versions) {
      const torch::Tensor y = version(torch::full({1, 256}, 1234.0F), {}, {}, {});
      EXPECT_LT(y.abs().max().item<double>(), 1e-6);
    }
  });
}

TEST(Norm, C02LargeOffsetCostsNoDigits) {
  on_every_target([] {
    const torch::Tensor x = torch::tensor({40000.0F, 40001.0F, 40002.0F, 40003.0F}).view({1, 4});
    const torch::Tensor expected = torch::tensor({-1.341635F, -0.447212F, 0.447212F, 1.341635F});
    for (const Version version : versions) {
      EXPECT_LT((version(x, {}, {}, {})[0] - expected).abs().max().item<double>(), 1e-6);
    }
  });
}

TEST(Norm, C04ZeroRowsGiveZerosAndFiniteGradients) {
  for (const Version version : versions) {
    for (const EpsPlacement placement : placements) {
      for (const Statistic statistic : {Statistic::layer, Statistic::rms}) {
        const Kernel f = kernel(version, {statistic, 1e-12, placement});
        const auto all = with_gradients(f, {torch::zeros({1, 10}), {}, {}});
        EXPECT_TRUE(all[0].equal(torch::zeros({1, 10})));
        EXPECT_TRUE(all[1].isfinite().all().item<bool>())
            << "placement " << static_cast<int>(placement);
      }
    }
  }
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    const torch::Tensor y = ballast::norm(torch::zeros({1, 10}, type), {}, {}, {.eps = 1e-12});
    EXPECT_TRUE(y.to(torch::kFloat32).equal(torch::zeros({1, 10})));
  }
}

TEST(Norm, C05RmsOfBigHalfPrecisionValuesNeitherOverflowsNorVanishes) {
  const torch::Tensor x = torch::full({1, 64}, 300.0, torch::kHalf);
  const torch::Tensor y = ballast::norm(x, {}, {}, {.statistic = Statistic::rms});
  EXPECT_TRUE(y.to(torch::kFloat32).equal(torch::ones({1, 64})));
}

TEST(Norm, C06EpsPlacementsDifferOnASmallRow) {
  on_every_target([] {
    const torch::Tensor x = torch::full({1, 8}, 1e-4F);
    const std::array expected{0.0995037, 0.990099, 1.0};
    for (size_t i = 0; i < placements.size(); ++i) {
      for (const Version version : versions) {
        const torch::Tensor y = version(x, {}, {}, {Statistic::rms, 1e-6, placements[i]});
        EXPECT_NEAR(y[0][7].item<double>(), expected[i], 1e-6);
      }
    }
  });
}

// C08: with one 10 and 4095 times 1e-3 the mean square is 100.004095 / 4096.
TEST(Norm, C08EpsIsNotRescaledByTheWidth) {
  torch::Tensor x = torch::full({1, 4096}, 1e-3F);
  x[0][0] = 10;
  const double expected = 10 / std::sqrt(100.004095 / 4096 + 1e-5);
  for (const Version version : versions) {
    const torch::Tensor y = version(x, {}, {}, {.statistic = Statistic::rms, .eps = 1e-5});
    EXPECT_NEAR(y[0][0].item<double>() / expected, 1, 1e-6);
  }
}

}  // namespace
}  // namespace ballast
