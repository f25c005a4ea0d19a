#include "ballast/values/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::toy_ids;
using testing::toy_vocabulary;

Profile profile_of(ModelOptions options) {
  options.d_model = 32;
  options.d_ff = 64;
  options.heads = 4;
  options.encoder_layers = options.decoder_layers = 6;
  auto model = testing::toy_model(options);
  return calibrate(*model, toy_ids({20, 30, 25}, toy_vocabulary, 1),
                   toy_ids({22, 28, 25}, toy_vocabulary, 2));
}

void expect_recursion(const Profile& profile, Stack stack) {
  const ProfiledSite* before = nullptr;
  for (const ProfiledSite& now : profile) {
    if (now.site.stack != stack) continue;
    if (!before) {
      EXPECT_EQ(now.omega, 1);
    } else {
      const double expected =
          before->omega * before->omega * before->shortcut_variance + before->branch_variance;
      EXPECT_NEAR(now.omega * now.omega, expected, 1e-9 * expected);
    }
    before = &now;
  }
}

TEST(Admin, OmegaFollowsTheRecursionInBothStacksFromOne) {
  ModelOptions options = testing::toy_options(Admin{});
  options.dropout = 0.1;
  const Profile profile = profile_of(options);
  ASSERT_EQ(profile.size(), 12U + 18U);
  expect_recursion(profile, Stack::encoder);
  expect_recursion(profile, Stack::decoder);
}

TEST(Admin, TheModelHoldsWhatTheProfileSays) {
  auto model = testing::toy_model(testing::toy_options(Admin{}));
  const Profile profile =
      calibrate(*model, toy_ids({5}, toy_vocabulary, 1), toy_ids({4}, toy_vocabulary, 2));
  const torch::Tensor omega =
      model->encoder->blocks[1]->at(Sublayer::feed_forward).residual->shortcut;
  EXPECT_FLOAT_EQ(omega.min().item<float>(), static_cast<float>(profile[3].omega));
  EXPECT_EQ(omega.min().item<float>(), omega.max().item<float>());
}

TEST(Admin, LaterInputsHaveVarianceOneSoOmegaGrowsByTheBranchVariance) {
  for (const ProfiledSite& measured : profile_of(testing::toy_options(Admin{}))) {
    if (measured.site.index == 0) continue;
    EXPECT_NEAR(measured.shortcut_variance, 1, 1e-3);
  }
}

TEST(Calibrate, SchemesWithoutAProfiledCoefficientAreMeasuredAndLeftAlone) {
  auto model = testing::toy_model(testing::toy_options(PreNorm{}));
  const torch::Tensor before = model->target_embedding->weight.clone();
  const Profile profile =
      calibrate(*model, toy_ids({5}, toy_vocabulary, 1), toy_ids({4}, toy_vocabulary, 2));
  EXPECT_EQ(profile.back().omega, 1);
  EXPECT_GT(profile.back().branch_variance, 0);
  EXPECT_TRUE(torch::equal(before, model->target_embedding->weight));
  EXPECT_FALSE(model->is_training());
}

// C26: the stream of a pre-norm stack grows by one branch variance per connection.
TEST(PreNorm, C26TheStreamGrowsLinearlySoTheStackNeedsItsFinalNorm) {
  const Profile profile = profile_of(testing::toy_options(PreNorm{}));
  const ProfiledSite& first = profile[2];
  const ProfiledSite& last = profile[11];
  EXPECT_GT(last.shortcut_variance, 1.5 * first.shortcut_variance);
  EXPECT_TRUE(stack_of(PreNorm{}).norms.has(Point::stack));
}

}  // namespace
}  // namespace ballast
