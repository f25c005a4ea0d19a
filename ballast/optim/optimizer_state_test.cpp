#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ballast/base/error.h"
#include "ballast/optim/optimizer.h"

namespace ballast {
namespace {

class OptimizerState : public ::testing::Test {
 protected:
  void expect_refused(const NamedTensors& state, const std::string& text) {
    try {
      optimizer.load_state(state);
      FAIL() << "accepted";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    }
    EXPECT_EQ(optimizer.steps(), 0);
    EXPECT_TRUE(torch::equal(optimizer.state()[1].value, torch::zeros({2, 3})));
  }

  NamedTensors saved() const {
    NamedTensors state{{"steps", torch::tensor(int64_t{5})},
                       {"w.first_moment", torch::ones({2, 3})},
                       {"w.second_moment", torch::ones({2, 3})}};
    return state;
  }

  Optimizer optimizer{Adam{}, {{"w", torch::ones({2, 3})}}};
};

TEST_F(OptimizerState, NamesAreThoseOfTheParameters) {
  ASSERT_EQ(optimizer.state().size(), saved().size());
  for (size_t i = 0; i < saved().size(); ++i) {
    EXPECT_EQ(optimizer.state()[i].name, saved()[i].name);
  }
}

TEST_F(OptimizerState, MissingTensorIsNamed) {
  NamedTensors state = saved();
  state.pop_back();
  expect_refused(state, "w.second_moment");
}

TEST_F(OptimizerState, UnknownTensorIsNamed) {
  NamedTensors state = saved();
  state.emplace_back("u.first_moment", torch::ones({1}));
  expect_refused(state, "u.first_moment");
}

TEST_F(OptimizerState, OtherShapeIsNamedWithBothShapes) {
  NamedTensors state = saved();
  state[2].value = torch::ones({3, 2});
  expect_refused(state, "\"w.second_moment\" is Float [3, 2], expected Float [2, 3]");
}

TEST_F(OptimizerState, OtherTypeIsRefused) {
  NamedTensors state = saved();
  state[1].value = torch::ones({2, 3}, torch::kDouble);
  expect_refused(state, "w.first_moment");
}

TEST_F(OptimizerState, NegativeStepCountIsRefused) {
  NamedTensors state = saved();
  state[0].value = torch::tensor(int64_t{-1});
  expect_refused(state, "negative number of steps");
}

}  // namespace
}  // namespace ballast
