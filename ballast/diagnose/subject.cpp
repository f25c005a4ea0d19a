#include "ballast/diagnose/subject.h"

namespace ballast {

Spots::Spots(const Transformer& model) {
  add(model.encoder.get(), Stack::encoder);
  add(model.decoder.get(), Stack::decoder);
  if (model.source_embedding) spots_[model.source_embedding.get()] = {.stack = Stack::encoder};
  spots_[model.target_embedding.get()] = {.stack = model.options().shape().target};
}

void Spots::add(const BlockStack* stack, Stack name) {
  if (stack == nullptr) return;
  spots_[stack] = {.stack = name};
  for (const auto& block : stack->blocks) {
    for (const auto& [branch, residual] : block->connections) {
      const Spot spot{.stack = name, .site = residual->site()};
      spots_[residual.get()] = spot;
      spots_[dynamic_cast<const Bound*>(branch.get())] = spot;
    }
  }
}

std::optional<Spot> Spots::of(const Passing& passing) const {
  const auto found = spots_.find(&passing.module);
  if (found == spots_.end()) return std::nullopt;
  Spot spot = found->second;
  spot.point = passing.point;
  return spot;
}

Untouched::Untouched(Transformer& model)
    : model_(model),
      was_training_(model.is_training()),
      activations_((model.decoder ? model.decoder : model.encoder)->activations) {
  model.set_activations(Activations::kept);
  for (const torch::Tensor& each : model.buffers()) buffers_.push_back(each.clone());
}

Untouched::~Untouched() {
  const torch::NoGradGuard no_grad;
  model_.train(was_training_);
  model_.set_activations(activations_);
  const std::vector<torch::Tensor> now = model_.buffers();
  for (size_t i = 0; i < now.size(); ++i) torch::Tensor(now[i]).copy_(buffers_[i]);
  for (torch::Tensor& each : model_.parameters()) each.mutable_grad().reset();
}

CrossEntropy differentiated(const Subject& subject) {
  for (torch::Tensor& each : subject.model.parameters()) each.mutable_grad().reset();
  CrossEntropy sums = cross_entropy(subject.model.predictions(subject.batch), subject.loss);
  sums.objective.backward();
  return sums;
}

}  // namespace ballast
