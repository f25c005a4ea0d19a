#include "ballast/residual/residual.h"

#include <gmock/gmock.h>

#include "ballast/base/error.h"
#include "ballast/residual/schemes.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;

constexpr int64_t d = 6;

ResidualSite site() {
  return {.count = 12, .encoder_layers = 6, .decoder_layers = 6, .d_model = d};
}

Residual made(const ResidualForm& form) { return Residual({form, LayerNorm{}, 0, site()}); }

torch::Tensor times_ten(const torch::Tensor& x) { return x * 10; }

TEST(Residual, C25DeepNormAndAdminScaleTheShortcut) {
  ResidualForm form{.shortcut = constant(3)};
  const torch::Tensor one = torch::ones({2, d});
  EXPECT_TRUE(torch::equal(made(form).forward(one, times_ten), one * 13));
}

TEST(Residual, C25ReZeroScalesTheBranchAndReturnsItsInputExactlyAtZero) {
  const torch::Tensor x = torch::rand({3, d});
  Residual residual = made(ReZero{}.form(site()));
  EXPECT_TRUE(torch::equal(residual.forward(x, times_ten), x));
  residual.branch.detach().fill_(0.5);
  EXPECT_TRUE(torch::allclose(residual.forward(x, times_ten), x * 6));
}

TEST(Residual, DeepNormWithAlphaOneIsPostNorm) {
  const torch::Tensor x = torch::rand({3, d});
  Residual deep = made({.norms = {Point::stream}, .shortcut = constant(1)});
  Residual post = made(PostNorm{}.form(site()));
  EXPECT_TRUE(torch::equal(deep.forward(x, times_ten), post.forward(x, times_ten)));
}

TEST(Residual, ARampIsTheIdentityAtItsStartAndThePlainFormAtItsEnd) {
  const torch::Tensor x = torch::rand({3, d});
  Residual ramped = made(Ramp{.steps = 100, .norm = NormPlacement::none}.form(site()));
  EXPECT_TRUE(torch::equal(ramped.forward(x, times_ten), x));
  ramped.context().step = 50;
  EXPECT_TRUE(torch::allclose(ramped.forward(x, times_ten), x * 6));
  ramped.context().step = 100;
  EXPECT_TRUE(torch::equal(ramped.forward(x, times_ten), made({}).forward(x, times_ten)));
}

TEST(Residual, ATrainedRampGrowsToItsParameter) {
  const torch::Tensor x = torch::rand({3, d});
  Coefficient both = ramp(100);
  both.trained = true;
  Residual residual = made({.branch = both});
  EXPECT_TRUE(torch::equal(residual.forward(x, times_ten), x));
  residual.context().step = 50;
  residual.branch.detach().fill_(2);
  EXPECT_TRUE(torch::allclose(residual.forward(x, times_ten), x * 11));
}

TEST(Residual, FormsThatSayNothingSensibleAreRefusedWithTheReason) {
  const auto reason = [](const ResidualForm& form, int lanes = 1) {
    return refusal_of(form, lanes);
  };
  EXPECT_EQ(reason(PostNorm{}.form(site())), "");
  EXPECT_THAT(reason({.branch = {.profiled = true}}), HasSubstr("only the shortcut"));
  EXPECT_THAT(reason({.shortcut = {.profiled = true}}, 2), HasSubstr("only the shortcut of one"));
  EXPECT_THAT(reason({.branch = trained_per_head(1)}), HasSubstr("no heads"));
  EXPECT_THAT(reason({.branch = trained_vector(1)}, 2), HasSubstr("2 lanes"));
  EXPECT_THAT(reason({.shortcut = constant({2, {1, 0, 0, 1}})}), HasSubstr("2 x 2"));
  EXPECT_THAT(reason({.norms = {Point::stack}}), HasSubstr("a norm stands at point \"stack\""));
  EXPECT_THAT(reason({.factors = {{Point::logits, constant(2)}}}), HasSubstr("a factor stands at"));
  EXPECT_THAT(reason({.norms = {Point::lane}}), HasSubstr("with one lane"));
  EXPECT_EQ(reason({.norms = {Point::lane}}, 2), "");
  EXPECT_THAT(reason({.head_norms = {Point::read}}), HasSubstr("of each head stands at"));
  EXPECT_EQ(reason({.head_norms = {Point::value}}), "");
  const Coefficient parts = constant(Grid(2, {1, 0, 0, 1}));
  EXPECT_EQ(reason({.read = parts}, 2), "");
  EXPECT_THAT(reason({.read = parts}, 3), HasSubstr("2 x 2, expected 3 x 3"));
  EXPECT_THAT(reason({.norms = {Point::stream}, .read = parts}, 2), HasSubstr("parts of a row"));
  Coefficient permuted = constant(std::vector<double>(3));
  permuted.gate = Gate{.outer = GateMap::permutations, .all_lanes = true};
  EXPECT_THAT(reason({.shortcut = permuted}, 2), HasSubstr("permutations of 2 lanes"));
  EXPECT_THROW(made({.branch = {.profiled = true}}), RecipeError);
}

TEST(Residual, PreNormLeavesTheShortcutUntouched) {
  const torch::Tensor x = torch::rand({3, d});
  Residual pre = made(PreNorm{}.form(site()));
  const torch::Tensor y = pre.forward(x, [](const torch::Tensor& h) { return h * 0; });
  EXPECT_TRUE(torch::equal(x, y));
}

TEST(Residual, DropoutFallsOnTheBranchAndNeverOnTheShortcut) {
  Residual residual({{}, LayerNorm{}, 0.5, site()});
  residual.train();
  const torch::Tensor x = torch::ones({200, d});
  const torch::Tensor y = residual.forward(x, [](const torch::Tensor& h) { return h; });
  const torch::Tensor dropped = y.eq(1), kept = y.eq(3);
  EXPECT_TRUE(dropped.logical_or(kept).all().item<bool>());
  EXPECT_NEAR(kept.to(torch::kFloat64).mean().item<double>(), 0.5, 0.06);
}

}  // namespace
}  // namespace ballast
