#include "ballast/kernels/residual_norm.h"

#include <gtest/gtest.h>

#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5;

/// How a factor is given.
enum class Kind { constant, scalar, vector };

struct Form {
  Kind shortcut = Kind::constant, branch = Kind::constant;
  bool norm_mid = false, norm_out = false;
  DropMask dropout = {};
};

Factor factor(Kind kind, const torch::Tensor& trained) {
  return kind == Kind::constant ? Factor{1.7} : Factor{1, trained};
}

using Version = torch::Tensor (*)(const ResidualInputs&);

Kernel kernel(Version version, const Form& form) {
  return [=](const std::vector<torch::Tensor>& t) {
    ResidualInputs inputs{t[0], t[1], factor(form.shortcut, t[2]), factor(form.branch, t[3]),
                          form.dropout};
    if (form.norm_mid) {
      inputs.norm_mid = {t[4], t[5], {Statistic::rms, 1e-3, EpsPlacement::outside_root}};
    }
    if (form.norm_out) inputs.norm_out = {t[6], t[7], {}};
    return version(inputs);
  };
}

torch::Tensor trained(Kind kind, int64_t d, uint64_t seed) {
  if (kind == Kind::constant) return {};
  return kind == Kind::scalar ? drawn({}, seed) : drawn({d}, seed);
}

std::vector<torch::Tensor> inputs(const Form& form, int64_t rows, int64_t d) {
  const auto parameter = [&](bool there, uint64_t seed) {
    return there ? drawn({d}, seed) : torch::Tensor();
  };
  return {drawn({rows, d}, 1),         drawn({rows, d}, 2),         trained(form.shortcut, d, 3),
          trained(form.branch, d, 4),  parameter(form.norm_mid, 5), parameter(form.norm_mid, 6),
          parameter(form.norm_out, 7), parameter(form.norm_out, 8)};
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Kind shortcut : {Kind::constant, Kind::scalar, Kind::vector}) {
    for (const Kind branch : {Kind::constant, Kind::scalar, Kind::vector}) {
      for (const bool mid : {false, true}) {
        for (const bool out : {false, true}) {
          all.push_back({shortcut, branch, mid, out});
          all.push_back({shortcut, branch, mid, out, {0.3, 11}});
        }
      }
    }
  }
  return all;
}

TEST(ResidualNorm, AgreesWithTheReferenceInEveryFormOnEveryInstructionSet) {
  on_every_target([] {
    for (const Form& form : forms()) {
      for (const auto& [rows, d] : {std::array{3, 5}, {70, 32}}) {
        EXPECT_LT(
            error_beyond_rounding(kernel(residual_norm, form),
                                  kernel(residual_norm_reference, form), inputs(form, rows, d)),
            tolerance)
            << static_cast<int>(form.shortcut) << static_cast<int>(form.branch) << form.norm_mid
            << form.norm_out << form.dropout.active() << ' ' << rows << ' ' << d;
      }
    }
  });
}

TEST(ResidualNormReference, HasTheGradientsOfFiniteDifferences) {
  for (const Form& form : forms()) {
    EXPECT_LT(finite_difference_error(kernel(residual_norm_reference, form), inputs(form, 4, 6)),
              1e-6);
  }
}

TEST(ResidualNorm, DoesNotDependOnRunOrThreads) {
  const Form form{Kind::scalar, Kind::vector, true, true, {0.1, 5}};
  EXPECT_TRUE(repeats_bit_for_bit(kernel(residual_norm, form), inputs(form, 2500, 48)));
  EXPECT_TRUE(same_for_any_threads(kernel(residual_norm, form), inputs(form, 2500, 48)));
}

TEST(ResidualNorm, ReturnsTheShortcutExactlyWhenTheBranchFactorIsZero) {
  on_every_target([] {
    const torch::Tensor x = drawn({9, 21}, 1), f = drawn({9, 21}, 2);
    const Factor constant{0}, trained{1, torch::zeros({})};
    for (const Factor& b : {constant, trained}) {
      EXPECT_TRUE(residual_norm({.shortcut = x, .branch = f, .branch_factor = b}).equal(x));
    }
  });
}

TEST(ResidualNorm, KeepsTheDigitsOfASumWithALargeOffset) {
  const torch::Tensor x = drawn({20, 64}, 1), f = drawn({20, 64}, 2).mul(4).round();
  const torch::Tensor shifted = (x * 4).round() + 40000;
  const ResidualInputs inputs{.shortcut = shifted, .branch = f, .norm_out = NormParameters{}};
  const ResidualInputs wide{.shortcut = shifted.to(torch::kFloat64),
                            .branch = f.to(torch::kFloat64),
                            .norm_out = NormParameters{}};
  EXPECT_LT(relative_error(residual_norm(inputs), residual_norm_reference(wide)), 1e-6);
}

TEST(ResidualNorm, GivesNothingForNoRows) {
  EXPECT_EQ(
      residual_norm({.shortcut = torch::zeros({0, 4}), .branch = torch::zeros({0, 4})}).size(0), 0);
}

}  // namespace
}  // namespace ballast
