#include "ballast/train/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>

#include "ballast/base/error.h"
#include "ballast/model/inventory.h"

namespace ballast {
namespace {

std::string shape_text(const torch::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes().begin(), tensor.sizes().end(), ", "));
}

const torch::Tensor& found_in(const std::map<std::string, torch::Tensor>& given,
                              const NamedTensor& wanted) {
  const auto found = given.find(wanted.name);
  if (found == given.end()) {
    throw StoreError(fmt::format(
        "the saved model has no tensor \"{}\"; it belongs to another architecture", wanted.name));
  }
  if (found->second.sizes() != wanted.value.sizes()) {
    throw StoreError(fmt::format(
        "tensor \"{}\" of the saved model has shape {}, this model expects {}; it belongs to "
        "another architecture",
        wanted.name, shape_text(found->second), shape_text(wanted.value)));
  }
  return found->second;
}

}  // namespace

NamedTensors with_present_names(NamedTensors state) {
  // The bias of a tied output projection, until that was a module of its own.
  constexpr std::string_view before = "output_bias", now = "output.bias";
  for (NamedTensor& each : state) {
    const bool is_its_own = each.name == before;
    const bool is_of_the_optimizer = each.name.starts_with(std::string(before) + ".");
    if (is_its_own || is_of_the_optimizer) each.name.replace(0, before.size(), now);
  }
  return state;
}

NamedTensors named_state(torch::nn::Module& model) {
  NamedTensors state;
  for (const InventoryEntry& entry : inventory(model)) {
    state.push_back({entry.name, entry.tensor.detach()});
  }
  for (const auto& item : model.named_buffers()) state.push_back({item.key(), item.value()});
  return state;
}

void load_named_state(torch::nn::Module& model, const NamedTensors& state) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> given;
  for (const NamedTensor& each : with_present_names(state)) given[each.name] = each.value;
  NamedTensors wanted = named_state(model);
  for (const NamedTensor& each : wanted) found_in(given, each);
  if (given.size() > wanted.size()) {
    for (const NamedTensor& each : wanted) given.erase(each.name);
    throw StoreError(fmt::format(
        "the saved model has a tensor \"{}\" that this model lacks; it belongs to another "
        "architecture",
        given.begin()->first));
  }
  for (NamedTensor& each : wanted) each.value.copy_(found_in(given, each));
}

}  // namespace ballast
