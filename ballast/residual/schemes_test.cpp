#include "ballast/residual/schemes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ballast {
namespace {

ResidualSite site(Stack stack, int encoder_layers, int decoder_layers) {
  return {.stack = stack, .encoder_layers = encoder_layers, .decoder_layers = decoder_layers};
}

TEST(AdminConstant, C23OmegaHasItsClosedForm) {
  const AdminConstant logarithmic;
  EXPECT_NEAR(logarithmic.omega(12), 2.017009218687, 1e-9);
  EXPECT_NEAR(logarithmic.omega(36), 3.040839038181, 1e-9);
  EXPECT_NEAR(logarithmic.omega(200), 6.074610648727, 1e-9);
  EXPECT_NEAR(logarithmic.omega(2000), 16.193853805577, 1e-9);
  EXPECT_NEAR(logarithmic.omega(144), 5.304298, 1e-6);
  const AdminConstant constant{.output_change = OutputChange::constant};
  EXPECT_NEAR(constant.omega(12), 3.464102, 1e-6);
  EXPECT_EQ(constant.omega(36), 6);
  EXPECT_EQ(constant.omega(144), 12);
  EXPECT_EQ(AdminConstant{.output_change = OutputChange::linear}.omega(36), 1);
}

TEST(DeepNorm, C24AlphaAndBetaHaveThePublishedValues) {
  const DeepNorm scheme;
  EXPECT_NEAR(scheme.alpha(site(Stack::encoder, 18, 18)), 1.9987463180, 1e-9);
  EXPECT_NEAR(scheme.beta(site(Stack::encoder, 18, 18)), 0.3525710060, 1e-9);
  EXPECT_NEAR(scheme.alpha(site(Stack::decoder, 18, 18)), 2.7108060108, 1e-9);
  EXPECT_NEAR(scheme.beta(site(Stack::decoder, 18, 18)), 0.2608474300, 1e-9);
  EXPECT_NEAR(scheme.alpha(site(Stack::decoder, 0, 12)), 2.2133638394, 1e-9);
  EXPECT_NEAR(scheme.beta(site(Stack::decoder, 0, 12)), 0.3194715521, 1e-9);
  EXPECT_NEAR(scheme.alpha(site(Stack::encoder, 60, 12)), 2.6331261088, 1e-9);
  EXPECT_NEAR(scheme.beta(site(Stack::decoder, 100, 100)), 0.1699044245, 1e-9);
}

TEST(DeepNorm, TheGainIsOnTheValuePathOnly) {
  const ResidualSite encoder = site(Stack::encoder, 6, 6);
  const Gains gains = DeepNorm{}.form(encoder).gains;
  EXPECT_EQ(gains.of(Role::query), 1);
  EXPECT_NEAR(gains.of(Role::feed_forward_out), 0.4969892408, 1e-9);
}

TEST(LayerScale, LambdaShrinksWithDepthAsInThePaper) {
  EXPECT_EQ(LayerScale{}.start(site(Stack::encoder, 18, 0)), 0.1);
  EXPECT_EQ(LayerScale{}.start(site(Stack::encoder, 24, 0)), 1e-5);
  EXPECT_EQ(LayerScale{}.start(site(Stack::encoder, 48, 0)), 1e-6);
  EXPECT_EQ(LayerScale{.initial = 0.5}.start(site(Stack::encoder, 48, 0)), 0.5);
}

TEST(SubNorm, GammaHasThePublishedValues) {
  EXPECT_NEAR(SubNorm{}.gamma(site(Stack::encoder, 6, 6)), 1.5472883810, 1e-9);
  EXPECT_NEAR(SubNorm{}.gamma(site(Stack::decoder, 6, 6)), 1.7001093370, 1e-9);
  EXPECT_NEAR(SubNorm{}.gamma(site(Stack::encoder, 18, 18)), 2.1828574450, 1e-9);
  EXPECT_NEAR(SubNorm{}.gamma(site(Stack::decoder, 18, 18)), 1.9972441129, 1e-9);
  EXPECT_NEAR(SubNorm{}.gamma(site(Stack::encoder, 12, 0)), std::sqrt(std::log(24)), 1e-12);
}

/// What a scheme says of every connection of a small model.
std::vector<std::pair<StackForm, ResidualForm>> sayings_of(const ResidualChoice& scheme) {
  std::vector<std::pair<StackForm, ResidualForm>> all;
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    for (int index = 0; index < 12; ++index) {
      ResidualSite at = site(stack, 4, 4);
      at.kind = static_cast<Sublayer>(index % 3);
      at.index = index;
      at.count = 12;
      at.layer = index / 3;
      all.emplace_back(stack_of(scheme), form_of(scheme, at));
    }
  }
  return all;
}

TEST(Schemes, NoTwoRowsSayTheSame) {
  std::vector<ResidualChoice> all;
  for (const std::string& name : kind_names<ResidualChoice>()) {
    all.push_back(*ChoiceTraits<ResidualChoice>::make(name));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i + 1; j < all.size(); ++j) {
      EXPECT_FALSE(sayings_of(all[i]) == sayings_of(all[j]))
          << info_of(all[i]).name << " and " << info_of(all[j]).name;
    }
  }
}

TEST(Schemes, NamesAreUnique) {
  auto names = kind_names<ResidualChoice>();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace ballast
