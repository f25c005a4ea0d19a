#include <gtest/gtest.h>
#include <torch/utils.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ballast/optim/optimizer.h"
#include "ballast/options/load.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

/// The part of a recipe that the cases give.
struct OptimizerRecipe {
  OptimizerChoice optimizer;
  static constexpr auto fields() {
    return std::make_tuple(field("optimizer", &OptimizerRecipe::optimizer, "the optimizer"));
  }
};

OptimizerChoice optimizer_of(const Json& options) {
  std::string text = "[optimizer]\n";
  for (const auto& [name, value] : options.items()) text += name + " = " + value.dump() + "\n";
  return read_text<OptimizerRecipe>(text, "golden", {}).value.optimizer;
}

torch::Tensor places(torch::IntArrayRef shape) {
  return torch::arange(c10::multiply_integers(shape), torch::kDouble).view(shape);
}

/// The weights after six steps, and those that the reference implementation found.
void check_case(const Json& expected) {
  SCOPED_TRACE(expected["optimizer"].dump());
  const std::map<std::string, std::vector<int64_t>> shapes{{"matrix", {4, 3}}, {"vector", {5}}};
  std::vector<OptimizedParameter> parameters;
  for (const auto& [name, weights] : expected["weights"].items()) {
    const ParameterFacts facts{.role = name == "matrix" ? Role::hidden : Role::bias, .decay = true};
    parameters.push_back({name, torch::sin(places(shapes.at(name)) + 1), 1, facts});
  }
  const OptimizerChoice choice = optimizer_of(expected["optimizer"]);
  Optimizer optimizer(choice, parameters);
  for (int step = 1; step <= 6; ++step) {
    for (OptimizedParameter& each : parameters) {
      each.value.mutable_grad() = torch::cos(places(each.value.sizes()) * 0.7 + step);
    }
    optimizer.step(peak_lr(choice));
  }
  for (const OptimizedParameter& each : parameters) {
    const auto wanted = expected["weights"][each.name].get<std::vector<double>>();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(each.value.view(-1)[static_cast<int64_t>(i)].item<double>(), wanted[i], 1e-12)
          << each.name << " " << i;
    }
  }
}

TEST(OptimizerGolden, EveryRuleMovesWeightsAsItsReferenceImplementationDoes) {
  const auto file = std::filesystem::path(BALLAST_GOLDEN) / "optimizer_golden.json";
  const Json cases = Json::parse(std::ifstream(file))["cases"];
  ASSERT_GE(cases.size(), 13U);
  for (const Json& each : cases) check_case(each);
}

}  // namespace
}  // namespace ballast
