#include "ballast/model/inventory.h"

#include <fmt/format.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace ballast {
namespace {

std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

ParameterFacts facts_of_foreign(const torch::nn::Module& owner, const torch::Tensor& tensor,
                                bool is_bias) {
  if (tensor.dim() < 2) {
    const bool normalises = dynamic_cast<const torch::nn::LayerNormImpl*>(&owner) != nullptr;
    const Role role = !normalises ? Role::bias : (is_bias ? Role::norm_bias : Role::norm_gain);
    if (const auto* linear = dynamic_cast<const torch::nn::LinearImpl*>(&owner)) {
      return {.role = role,
              .fan_in = linear->options.in_features(),
              .fan_out = linear->options.out_features()};
    }
    return {.role = role, .fan_in = tensor.numel(), .fan_out = tensor.numel()};
  }
  const bool embeds = dynamic_cast<const torch::nn::EmbeddingImpl*>(&owner) != nullptr;
  return {.role = embeds ? Role::target_embedding : Role::hidden,
          .fan_in = tensor.size(-1),
          .fan_out = tensor.size(0)};
}

void refuse_forgotten(torch::nn::Module& module, const std::vector<ParameterSlot>& slots,
                      const std::string& path) {
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    const bool known = std::ranges::any_of(
        slots, [&](const ParameterSlot& slot) { return slot.tensor.is_same(item.value()); });
    if (known) continue;
    throw std::logic_error(fmt::format(
        "{} ({}) does not describe its parameter \"{}\"; describe() has to list every one",
        path.empty() ? "the model" : path, module.name(), item.key()));
  }
}

std::vector<InventoryEntry> entries_of(torch::nn::Module& module, const std::string& path) {
  std::vector<InventoryEntry> entries;
  if (auto* described = dynamic_cast<Described*>(&module)) {
    const std::vector<ParameterSlot> slots = described->describe();
    refuse_forgotten(module, slots, path);
    for (const ParameterSlot& slot : slots) {
      entries.push_back({joined(path, slot.name), slot.tensor, slot.facts, slot.multiplier,
                         slot.start, slot.derived});
    }
    return entries;
  }
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    const ParameterFacts facts = facts_of_foreign(module, item.value(), item.key() == "bias");
    const double start = facts.role == Role::norm_gain ? 1 : 0;
    entries.push_back({joined(path, item.key()), item.value(), facts, nullptr, start});
  }
  return entries;
}

/// A module of a model, by its path.
struct Found {
  std::string path;
  torch::nn::Module* module;
};

/// A module on the stack cannot list itself among its modules, so the root is looked at apart.
std::vector<Found> modules_of(torch::nn::Module& model) {
  std::vector<Found> found{{"", &model}};
  for (const auto& item : model.named_modules({}, /*include_self=*/false)) {
    found.push_back({item.key(), item.value().get()});
  }
  return found;
}

/// Which modules stand around each module.
class Neighbourhood {
 public:
  explicit Neighbourhood(const std::vector<Found>& modules) {
    for (const auto& [path, module] : modules) {
      const auto* around = dynamic_cast<const Surrounding*>(module);
      if (around == nullptr) continue;
      for (const torch::nn::Module* each : around->surrounded()) {
        add(*each, around);
      }
    }
  }

  template <class Facts>
  void complete(const torch::nn::Module& module, Facts& facts) const {
    const auto found = around_.find(&module);
    if (found == around_.end()) return;
    for (const Surrounding* each : found->second) each->complete(facts);
  }

 private:
  void add(const torch::nn::Module& module, const Surrounding* around) {
    around_[&module].push_back(around);
    for (const auto& child : module.children()) add(*child, around);
  }

  std::map<const torch::nn::Module*, std::vector<const Surrounding*>> around_;
};

}  // namespace

Inventory inventory(torch::nn::Module& model) {
  const std::vector<Found> modules = modules_of(model);
  const Neighbourhood neighbourhood(modules);
  Inventory found;
  std::set<const void*> seen;
  for (const auto& [path, module] : modules) {
    for (InventoryEntry& entry : entries_of(*module, path)) {
      if (!seen.insert(entry.tensor.unsafeGetTensorImpl()).second) continue;
      neighbourhood.complete(*module, entry.facts);
      found.parameters.push_back(std::move(entry));
    }
    auto* described = dynamic_cast<Described*>(module);
    if (described == nullptr) continue;
    for (const FactorSlot& slot : described->factors()) {
      found.factors.push_back({path, slot.facts, slot.value});
      neighbourhood.complete(*module, found.factors.back().facts);
    }
  }
  return found;
}

}  // namespace ballast
