#include "bench/sides.h"

#include <fmt/format.h>
#include <torch/nn/utils/clip_grad.h>

#include <cmath>
#include <stdexcept>

#include "ballast/data/tokenizer.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/optim/clip.h"
#include "ballast/train/evaluate.h"
#include "bench/models.h"
#include "bench/statistics.h"

namespace ballast::bench {
namespace {

torch::optim::AdamOptions stock_options(const Recipe& recipe) {
  const auto& adam = std::get<Adam>(recipe.optimizer);
  return torch::optim::AdamOptions(adam.lr).betas({adam.beta1, adam.beta2}).eps(adam.eps);
}

}  // namespace

OurSide::OurSide(const Recipe& recipe, int64_t vocabulary_size)
    : OurSide(recipe, build_model(recipe, {vocabulary_size, vocabulary_size})) {}

OurSide::OurSide(const Recipe& recipe, const PlannedModel& planned)
    : options_(recipe.train),
      lr_(peak_lr(recipe.optimizer)),
      model_(planned.model),
      optimizer_(recipe.optimizer, optimized(planned.plan)) {
  model_->context().seed = static_cast<uint64_t>(recipe.seed);
  model_->context().precision = recipe.train.precision;
}

torch::Tensor OurSide::summed_loss(const Batch& batch) const {
  const torch::Tensor hidden = model_->forward(batch.source, batch.target_input);
  return cross_entropy(model_->output->against(hidden, batch.target_output), loss_options(options_))
      .objective;
}

StepTime OurSide::step(const Batch& batch) {
  StepTime time;
  model_->train();
  model_->context().step = optimizer_.steps();
  const Stopwatch forward;
  const torch::Tensor loss = summed_loss(batch);
  time.forward = forward.seconds();
  const Stopwatch backward;
  loss.backward();
  time.backward = backward.seconds();
  const Stopwatch update;
  const auto tokens = static_cast<double>(batch.tokens);
  const auto clip = clip_scale(gradient_norm(optimizer_.parameters()) / tokens, options_.clip_norm);
  if (!clip) throw std::runtime_error("our gradient is not finite");
  optimizer_.step(lr_, *clip / tokens);
  optimizer_.clear_gradients();
  time.update = update.seconds();
  return time;
}

Gradient OurSide::gradient(const Batch& batch) {
  model_->eval();
  const torch::Tensor loss = summed_loss(batch);
  loss.backward();
  const auto tokens = static_cast<double>(batch.tokens);
  const Gradient found{loss.item<double>() / tokens,
                       gradient_norm(optimizer_.parameters()) / tokens};
  optimizer_.clear_gradients();
  return found;
}

StockSide::StockSide(const Recipe& recipe, std::unique_ptr<StockModel> model)
    : options_(recipe.train),
      model_(std::move(model)),
      optimizer_(model_->parameters(), stock_options(recipe)) {}

StepTime StockSide::step(const Batch& batch) {
  const PaddedBatch ready = padded(batch, pad_id);
  StepTime time;
  model_->train();
  const Stopwatch forward;
  const torch::Tensor loss = model_->loss(ready, pad_id, options_.label_smoothing);
  time.forward = forward.seconds();
  const Stopwatch backward;
  loss.backward();
  time.backward = backward.seconds();
  const Stopwatch update;
  torch::nn::utils::clip_grad_norm_(model_->parameters(), options_.clip_norm);
  optimizer_.step();
  model_->zero_grad(/*set_to_none=*/true);
  time.update = update.seconds();
  return time;
}

Gradient StockSide::gradient(const Batch& batch) {
  model_->eval();
  const torch::Tensor loss = model_->loss(padded(batch, pad_id), pad_id, options_.label_smoothing);
  loss.backward();
  double squares = 0;  // in float64, since clip_grad_norm_ is off by 1e-4 in large tables
  for (const torch::Tensor& each : model_->parameters()) {
    squares += each.grad().to(torch::kFloat64).square().sum().item<double>();
  }
  const Gradient found{loss.item<double>(), std::sqrt(squares)};
  model_->zero_grad(/*set_to_none=*/true);
  return found;
}

void check_agreement(const Gradient& ours, const Gradient& stock, double tolerance) {
  const auto differ = [&](double a, double b) { return !(std::abs(a - b) <= tolerance * b); };
  if (!differ(ours.loss, stock.loss) && !differ(ours.norm, stock.norm)) return;
  throw std::runtime_error(fmt::format(
      "the sides do not compute the same: loss {} ours, {} stock; gradient norm {} ours, {} stock",
      ours.loss, stock.loss, ours.norm, stock.norm));
}

}  // namespace ballast::bench
