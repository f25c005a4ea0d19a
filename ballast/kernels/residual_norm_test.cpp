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
  bool invertible = false;  ///< the outer norm's gains near 1, its biases near 0
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
  torch::Tensor gain = parameter(form.norm_out, 7), bias = parameter(form.norm_out, 8);
  if (form.norm_out && form.invertible) {
    gain = 1 + gain / 8;
    bias = bias / 8;
  }
  return {drawn({rows, d}, 1),
          drawn({rows, d}, 2),
          trained(form.shortcut, d, 3),
          trained(form.branch, d, 4),
          parameter(form.norm_mid, 5),
          parameter(form.norm_mid, 6),
          gain,
          bias};
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Kind shortcut : {Kind::constant, Kind::scalar, Kind::vector}) {
    for (const Kind branch : {Kind::constant, Kind::scalar, Kind::vector}) {
      for (const bool mid : {false, true}) {
        for (const bool out : {false, true}) {
          all.push_back({shortcut, branch, mid, out});
          all.push_back({shortcut, branch, mid, out, {0.3, 11}});
          if (out) all.push_back({shortcut, branch, mid, out, {0.3, 11}, true});
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
            << form.norm_out << form.dropout.active() << form.invertible << ' ' << rows << ' ' << d;
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

/// Whether the branch still lies in memory when only the result is left.
bool keeps_branch(const ResidualInputs& form) {
  const torch::Tensor x = drawn({6, 8}, 1).requires_grad_(), g = drawn({6, 8}, 2).requires_grad_();
  ResidualInputs inputs = form;
  inputs.shortcut = x;
  inputs.branch = g * 3;
  const c10::weak_intrusive_ptr<c10::StorageImpl> memory =
      inputs.branch.storage().getWeakStorageImpl();
  const torch::Tensor y = residual_norm(inputs);
  inputs.branch.reset();
  const bool kept = !memory.expired();
  y.square().sum().backward();
  EXPECT_TRUE(g.grad().isfinite().all().item<bool>());
  return kept;
}

TEST(ResidualNorm, KeepsTheBranchOnlyWhereItsGradientsNeedIt) {
  const torch::Tensor ones = torch::ones({8}), zeros = torch::zeros({8});
  const NormParameters plain, gained{ones, zeros}, zero_gain{zeros, zeros}, biased{ones, 2 * ones};
  const Factor learned{1, torch::ones({}).requires_grad_()};
  EXPECT_FALSE(keeps_branch({}));
  EXPECT_FALSE(keeps_branch({.shortcut_factor = learned, .dropout = {0.3, 5}}));
  EXPECT_FALSE(keeps_branch({.norm_out = plain}));
  EXPECT_FALSE(keeps_branch({.shortcut_factor = learned, .norm_out = gained}));
  EXPECT_TRUE(keeps_branch({.norm_out = zero_gain}));
  EXPECT_TRUE(keeps_branch({.norm_out = biased}));
  EXPECT_TRUE(keeps_branch({.branch_factor = learned}));
  EXPECT_TRUE(keeps_branch({.norm_mid = plain, .norm_out = plain}));
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
