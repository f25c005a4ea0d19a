#include "ballast/train/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/contexts.h"
#include "ballast/model/inventory.h"
#include "ballast/store/json.h"

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

/// The same number as the pieces of all contexts in lists, each with the id before it.
uint64_t fingerprint(const Contexts& contexts) {
  uint64_t key = mix(0, static_cast<uint64_t>(contexts.count()));
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < contexts.count(); ++k) {
    for (const ContextPiece& piece : contexts.pieces(k)) {
      ids.resize(static_cast<std::size_t>(piece.size()));
      contexts.stream().copy(piece.begin, piece.end, ids.data());
      key = mix(key, static_cast<uint64_t>(piece.before));
      for (const int64_t id : ids) key = mix(key, static_cast<uint64_t>(id));
    }
  }
  int64_t end = 0;
  for (int64_t k = 0; k < contexts.count(); ++k) {
    for (const ContextPiece& piece : contexts.pieces(k)) {
      key = mix(key, static_cast<uint64_t>(end += piece.size() + 1));
    }
  }
  return key;
}

/// A number that another text would hardly give.
uint64_t fingerprint(const EncodedCorpus& corpus) {
  if (corpus.contexts) return fingerprint(*corpus.contexts);
  uint64_t key = mix(static_cast<uint64_t>(corpus.source.count()),
                     static_cast<uint64_t>(corpus.target.count()));
  for (const TokenLists* side : {&corpus.source, &corpus.target}) {
    for (const int32_t id : side->ids()) key = mix(key, static_cast<uint64_t>(id));
    for (const int64_t end : side->ends()) key = mix(key, static_cast<uint64_t>(end));
  }
  return key;
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
  for (const InventoryEntry& entry : inventory(model).parameters) {
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

Checkpoints::Checkpoints(const TrainingParts& parts, RunDirectory& directory)
    : parts_(parts), directory_(directory), fingerprint_(fingerprint(*parts.train)) {}

void Checkpoints::save(const TrainingState& state, const std::optional<BestStep>& best) {
  nlohmann::json values{{"step", state.step()},
                        {"epoch", state.stream.position().epoch},
                        {"batch", state.stream.position().batch},
                        {"corpus", fingerprint_},
                        {"guard", json_of(state.guard.state())}};
  if (best) values["best"] = json_of(*best);
  directory_.save_step(state.step(), named_state(*parts_.model), state.optimizer.state(), values);
  directory_.prune(parts_.options.keep);
}

std::optional<BestStep> Checkpoints::load(int64_t step, TrainingState& state) const {
  const SavedStep saved = directory_.load_step(step);
  load_named_state(*parts_.model, saved.model);
  state.optimizer.load_state(with_present_names(saved.optimizer));
  try {
    if (saved.state.at("corpus") != fingerprint_) {
      throw DataError(fmt::format(
          "{}: the training text is not the one that step {} was trained on; go on with that text, "
          "or choose another --run directory",
          directory_.path().string(), step));
    }
    state.stream.seek({saved.state.at("epoch"), saved.state.at("batch")});
    state.guard.load_state(from_json_fields<StabilityState>(saved.state.at("guard")));
    if (!saved.state.contains("best")) return std::nullopt;
    return from_json_fields<BestStep>(saved.state["best"]);
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("{}: state.json of step {} lacks what a resume needs ({})",
                                 directory_.path().string(), step, error.what()));
  }
}

}  // namespace ballast
