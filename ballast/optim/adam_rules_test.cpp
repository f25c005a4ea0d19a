#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ballast/optim/rules.h"

namespace ballast {
namespace {

constexpr std::array beta2_values{0.98, 0.99, 0.995, 0.999};

// The formula of the paper evaluated with 50 decimal digits.
TEST(RAdam, RectifierHasTheValuesOfThePaperFormula) {
  const std::array at_6{0.1155232116, 0.0816791958, 0.0577472900, 0.0258211128};
  const std::array at_100{0.8196727884, 0.6341168514, 0.4671505809, 0.2153354365};
  for (size_t i = 0; i < beta2_values.size(); ++i) {
    EXPECT_NEAR(rectifier(beta2_values[i], 6), at_6[i], 1e-9);
    EXPECT_NEAR(rectifier(beta2_values[i], 100), at_100[i], 1e-9);
  }
}

TEST(RAdam, RectifierTendsToOne) { EXPECT_NEAR(rectifier(0.98, 5000), 1, 1e-12); }

TEST(RAdam, AuthorsRuleIsStillUntilStep6) {
  for (const double beta2 : beta2_values) {
    const RAdam options{.beta2 = beta2, .weight_decay = 0.1};
    const AdamUpdate still = update_at(options, 5);
    EXPECT_EQ(still.step, 0) << beta2;
    EXPECT_EQ(still.decay, 0) << beta2;
    const AdamUpdate first = update_at(options, 6);
    EXPECT_GT(first.step, 0) << beta2;
    EXPECT_EQ(first.root, 1) << beta2;
    EXPECT_EQ(first.decay, 0.1) << beta2;
  }
}

TEST(RAdam, PaperRuleTakesMomentumStepsUntilStep5) {
  for (const double beta2 : beta2_values) {
    const RAdam options{.beta2 = beta2, .rectification = Rectification::paper};
    const AdamUpdate momentum = update_at(options, 4);
    EXPECT_EQ(momentum.root, 0) << beta2;
    EXPECT_EQ(momentum.epsilon, 1) << beta2;
    EXPECT_DOUBLE_EQ(momentum.step, 1 / (1 - std::pow(0.9, 4))) << beta2;
    EXPECT_EQ(update_at(options, 5).root, 1) << beta2;
  }
}

TEST(RAdam, ShortAverageIsNeverRectified) {
  EXPECT_EQ(update_at(RAdam{.beta2 = 0.5}, 1000).step, 0);
}

TEST(Adam, PlacementOfEpsilonIsItsValueAtEachStep) {
  const AdamUpdate after = update_at(Adam{.eps = 1e-3}, 3);
  const AdamUpdate inside =
      update_at(Adam{.eps = 1e-3, .eps_placement = EpsilonPlacement::inside_correction}, 3);
  EXPECT_EQ(after.step, inside.step);
  EXPECT_EQ(inside.epsilon, 1e-3);
  EXPECT_DOUBLE_EQ(after.epsilon, 1e-3 * std::sqrt(1 - std::pow(0.999, 3)));
}

TEST(OptimizerChoice, NamesFindTheirKinds) {
  const auto made = ChoiceTraits<OptimizerChoice>::make("adamw");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(info_of(*made).name, "adamw");
  EXPECT_EQ(peak_lr(*made), 1e-3);
  EXPECT_EQ(kind_names<OptimizerChoice>(),
            (std::vector<std::string>{"radam", "adam", "adamw", "stable_adamw", "sgd", "lion",
                                      "adafactor", "novograd", "lamb", "muon"}));
  EXPECT_EQ(enum_value<Rectification>("paper"), Rectification::paper);
}

}  // namespace
}  // namespace ballast
