#include "ballast/model/inventory.h"

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <set>

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
    return {role, tensor.numel(), tensor.numel()};
  }
  const bool embeds = dynamic_cast<const torch::nn::EmbeddingImpl*>(&owner) != nullptr;
  return {embeds ? Role::target_embedding : Role::hidden, tensor.size(-1), tensor.size(0)};
}

std::vector<InventoryEntry> entries_of(torch::nn::Module& module, const std::string& path) {
  std::vector<InventoryEntry> entries;
  if (auto* described = dynamic_cast<Described*>(&module)) {
    for (const ParameterSlot& slot : described->describe()) {
      entries.push_back(
          {joined(path, slot.name), slot.tensor, slot.facts, slot.multiplier, slot.start});
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

}  // namespace

std::vector<InventoryEntry> inventory(torch::nn::Module& model) {
  // A module on the stack cannot list itself among its modules, so the root is looked at apart.
  std::vector<InventoryEntry> found = entries_of(model, "");
  for (const auto& item : model.named_modules({}, /*include_self=*/false)) {
    for (InventoryEntry& entry : entries_of(*item.value(), item.key())) {
      found.push_back(std::move(entry));
    }
  }
  std::set<const void*> seen;
  std::erase_if(found, [&](const InventoryEntry& entry) {
    return !seen.insert(entry.tensor.unsafeGetTensorImpl()).second;
  });
  return found;
}

}  // namespace ballast
