#include "ballast/base/context.h"

#include <gtest/gtest.h>

#include <set>

namespace ballast {
namespace {

class Watched : public torch::nn::Module, public Bound {
 public:
  torch::Tensor forward(const torch::Tensor& x) const { return shown(Point::read, x) + 1; }
  uint64_t key() const { return random_key("dropout"); }
};

class Pair : public torch::nn::Module {
 public:
  Pair()
      : first(register_module("first", std::make_shared<Watched>())),
        second(register_module("second", std::make_shared<Watched>())) {}
  std::shared_ptr<Watched> first, second;
};

TEST(Context, ModulesShareItAndKnowTheirPaths) {
  Pair pair;
  const auto context = std::make_shared<Context>();
  bind_modules(pair, context);
  EXPECT_EQ(pair.second->path(), "second");
  EXPECT_EQ(&pair.first->context(), &pair.second->context());
}

TEST(Context, RandomKeysDifferByPathSeedStepAndMicroBatch) {
  Pair pair;
  const auto context = std::make_shared<Context>();
  bind_modules(pair, context);
  std::set<uint64_t> keys{pair.first->key(), pair.second->key()};
  context->step = 1;
  keys.insert(pair.first->key());
  context->micro_batch = 1;
  keys.insert(pair.first->key());
  context->seed = 1;
  keys.insert(pair.first->key());
  EXPECT_EQ(keys.size(), 5U);
}

TEST(Watch, SeesAndReplacesTensorsUntilItEnds) {
  Watched module;
  const torch::Tensor one = torch::ones({1});
  {
    const Watch watch(module.context(), [](const Passing& passing, const torch::Tensor& value) {
      EXPECT_EQ(passing.point, Point::read);
      return value * 10;
    });
    EXPECT_EQ(module.forward(one).item<float>(), 11);
  }
  EXPECT_EQ(module.forward(one).item<float>(), 2);
}

TEST(Watch, TwoWatchOnePassInTheOrderInWhichTheyCame) {
  Watched module;
  const torch::Tensor one = torch::ones({1});
  std::vector<float> saw;
  const auto plus = [&](float number) {
    return [&saw, number](const Passing&, const torch::Tensor& value) {
      saw.push_back(value.item<float>());
      return value * number;
    };
  };
  auto first = std::make_unique<Watch>(module.context(), plus(3));
  const Watch second(module.context(), plus(5));
  EXPECT_EQ(module.forward(one).item<float>(), 16);
  EXPECT_EQ(saw, (std::vector<float>{1, 3}));
  first.reset();  // the one who came later goes on
  EXPECT_EQ(module.forward(one).item<float>(), 6);
}

TEST(PrecisionScope, GivesBackThePrecisionThereWas) {
  Context context;
  {
    const PrecisionScope scope(context, Precision::bf16);
    EXPECT_EQ(context.precision, Precision::bf16);
  }
  EXPECT_EQ(context.precision, Precision::float32);
}

}  // namespace
}  // namespace ballast
