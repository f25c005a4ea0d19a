#include <gtest/gtest.h>
#include <torch/utils.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ballast/data/packed_batch.h"
#include "ballast/model/inventory.h"
#include "ballast/model/transformer.h"
#include "ballast/options/load.h"

namespace ballast {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::vector<int64_t>>;

/// A case's options, which are written as JSON.
ModelOptions options_of(const Json& options) {
  const auto text = [](const Json& value, const auto& self) -> std::string {
    if (!value.is_object()) return value.dump();
    std::string inner;
    for (const auto& [name, each] : value.items()) {
      inner += (inner.empty() ? "" : ", ") + name + " = " + self(each, self);
    }
    return "{ " + inner + " }";
  };
  std::string all;
  for (const auto& [name, value] : options.items()) all += name + " = " + text(value, text) + "\n";
  return read_text<ModelOptions>(all, "golden", {}).value;
}

/// The values that `make_shape_golden` gives a tensor of this name.
torch::Tensor value_of(const std::string& name, const torch::Tensor& like, double one) {
  const double phase = std::accumulate(name.begin(), name.end(), 0.0);
  const torch::Tensor i = torch::arange(like.numel(), torch::kDouble);
  const double scale = like.dim() == 2 ? 1 / std::sqrt(static_cast<double>(like.size(1))) : 0.3;
  return (scale * torch::sin(0.37 * i * i + phase) + one).view(like.sizes());
}

/// Logits of the golden values, in float64 or as the model computes by itself.
torch::Tensor logits_of(const ModelOptions& options, int64_t vocabulary, const Ids& ids,
                        torch::ScalarType type) {
  Transformer model(options, {vocabulary, vocabulary});
  const torch::NoGradGuard no_grad;
  model.to(torch::kDouble);
  const auto* rms = std::get_if<RmsNorm>(&options.norm);
  const double gain = rms != nullptr && rms->one_plus_gain ? 0 : 1;
  for (const InventoryEntry& each : inventory(model).parameters) {
    const double one = each.facts.role == Role::norm_gain ? gain : 0;
    each.tensor.copy_(value_of(each.name, each.tensor, one));
  }
  model.to(type);
  model.eval();
  return model.logits(model.forward({}, pack(ids))).to(torch::kDouble);
}

TEST(ShapeGolden, LogitsAreHuggingFaces) {
  std::ifstream file(std::filesystem::path(BALLAST_GOLDEN) / "shape_golden.json");
  const Json golden = Json::parse(file);
  const auto ids = golden["ids"].get<Ids>();
  const auto vocabulary = golden["vocabulary"].get<int64_t>();
  ASSERT_EQ(golden["cases"].size(), 7U);
  for (const Json& each : golden["cases"]) {
    const ModelOptions options = options_of(each["model"]);
    const auto rows = each["logits"].get<std::vector<std::vector<double>>>();
    std::vector<double> flat;
    for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    const torch::Tensor expected =
        torch::tensor(flat, torch::kDouble).view({std::ssize(rows), vocabulary});
    const auto difference = [&](torch::ScalarType type) {
      return (logits_of(options, vocabulary, ids, type) - expected).abs().max().item<double>();
    };
    EXPECT_GT(expected.abs().max().item<double>(), 0.5) << each["name"];
    // Transformers takes RMS norms and rotary angles in float32, whatever the type of the model.
    const bool is_double = !std::holds_alternative<RmsNorm>(options.norm);
    EXPECT_LT(difference(torch::kDouble), is_double ? 1e-10 : 2e-6) << each["name"];
    EXPECT_LT(difference(torch::kFloat32), 1e-5) << each["name"];
  }
}

}  // namespace
}  // namespace ballast
