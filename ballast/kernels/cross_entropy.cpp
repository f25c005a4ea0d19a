#include "ballast/kernels/cross_entropy.h"

#include <torch/autograd.h>

#include <numeric>
#include <string>

#include "ballast/base/error.h"
#include "ballast/kernels/bf16.h"
#include "ballast/kernels/held.h"
#include "ballast/kernels/linear.h"
#include "ballast/kernels/matmul.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/kernels/soft_cap.h"
#include "ballast/loops/cross_entropy_loops.h"
#include "ballast/loops/outer_sum.h"

namespace ballast {
namespace {

torch::Tensor wide(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
}

/// Shares of the loss: of the target's -log p, and of the sum over all classes.
struct Shares {
  double target, every;
};

Shares shares_of(const CrossEntropyOptions& options, int64_t classes) {
  if (options.smoothing == 0) return {1, 0};
  if (options.convention == Smoothing::all_classes) {
    return {1 - options.smoothing, options.smoothing / static_cast<double>(classes)};
  }
  const double each = options.smoothing / static_cast<double>(classes - 1);
  return {1 - options.smoothing - each, each};
}

void check_targets(const CrossEntropyInputs& inputs) {
  if (inputs.targets.numel() == 0) return;
  const auto most = inputs.targets.max().item<int64_t>(), classes = inputs.weight.size(0);
  if (most < classes) return;
  throw DataError("target " + std::to_string(most) + " found where the output layer has " +
                  std::to_string(classes) +
                  " classes; targets count from 0, so check the vocabulary of the data");
}

/// Rows whose target counts; undefined when all do.
torch::Tensor counted(const torch::Tensor& targets) {
  const torch::Tensor rows = targets.ge(0).nonzero().squeeze(1);
  return rows.size(0) == targets.size(0) ? torch::Tensor() : rows;
}

torch::Tensor picked(const torch::Tensor& from, const torch::Tensor& rows) {
  return rows.defined() ? from.index_select(0, rows) : from;
}

torch::Tensor reference_logits(const CrossEntropyInputs& inputs, const torch::Tensor& hidden) {
  const LinearOptions options{.multiplier = inputs.multiplier, .bf16_weight = inputs.bf16_weight};
  const auto logits = linear_reference(hidden, inputs.weight, inputs.bias, options);
  return wide(soft_capped(logits, inputs.soft_cap));
}

}  // namespace

CrossEntropy cross_entropy_reference(const CrossEntropyInputs& inputs,
                                     const CrossEntropyOptions& options) {
  check_targets(inputs);
  const torch::Tensor kept = counted(inputs.targets);
  const torch::Tensor targets = picked(inputs.targets, kept);
  const torch::Tensor logits = reference_logits(inputs, picked(inputs.hidden, kept));
  const torch::Tensor log_p = torch::log_softmax(logits, -1);
  const torch::Tensor nll = -log_p.gather(1, targets.unsqueeze(1)).sum();
  const Shares shares = shares_of(options, inputs.weight.size(0));
  const torch::Tensor loss =
      shares.every == 0 ? nll * shares.target : nll * shares.target - log_p.sum() * shares.every;
  torch::Tensor objective = loss;
  if (options.z_loss != 0) {
    objective = loss + torch::logsumexp(logits, -1).square().sum() * options.z_loss;
  }
  return {loss, nll.detach(), objective, targets.size(0)};
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What a pass over the rows needs besides the tensors.
struct LossCall {
  Shares shares;
  LossRows::Turn turn;
  double z_loss = 0;
};

/// Results of a pass; the gradients are undefined unless the call turns logits into them.
struct LossPass {
  std::vector<double> loss, nll, z_loss;
  torch::Tensor hidden, weight, bias;
};

/// Some sixteen megabytes of logits, but enough rows to pay for a pass over the weight's gradient.
int64_t chunk_rows(int64_t classes) {
  return std::clamp<int64_t>((int64_t{1} << 22) / classes, 256, 1024);
}

void project(torch::Tensor logits, const CrossEntropyInputs& chunk) {
  const double multiplier = chunk.multiplier;
  const torch::Tensor bias = multiplier == 1 ? chunk.bias : torch::Tensor();
  matmul_into(logits, chunk.hidden, chunk.weight.t(), bias, static_cast<float>(multiplier));
}

/// Memory for the logits of a chunk and, in bfloat16, for their gradient.
struct ChunkMemory {
  torch::Tensor logits, narrow;

  ChunkMemory(const CrossEntropyInputs& inputs, LossRows::Turn turn, int64_t rows) {
    const std::vector<int64_t> sizes{std::min(inputs.hidden.size(0), rows), inputs.weight.size(0)};
    logits = torch::empty(sizes, inputs.hidden.options().dtype(torch::kFloat32));
    if (is_bf16(inputs.hidden) && turn == LossRows::Turn::into_gradient) {
      narrow = torch::empty(sizes, inputs.hidden.options());
    }
  }
};

/// Adds a chunk's part to the gradients of the parameters and sets that of its hidden rows.
/// `logits` holds the gradient of the logits, in the type of the operands.
void add_gradients(const torch::Tensor& logits, const CrossEntropyInputs& chunk, LossPass& pass,
                   int64_t begin) {
  const auto scale = static_cast<float>(chunk.multiplier);
  matmul_into(pass.hidden.slice(0, begin, begin + logits.size(0)), logits, chunk.weight, {}, scale);
  if (is_bf16(logits)) {
    if (begin == 0) {
      matmul_into(pass.weight, logits.t(), chunk.hidden, {}, scale);
    } else {
      add_matmul(pass.weight, logits.t(), chunk.hidden, scale);
    }
    if (chunk.bias.defined()) pass.bias += logits.sum({0}, false, torch::kFloat32);
    return;
  }
  outer_sum({.left = logits.data_ptr<float>(),
             .right = chunk.hidden.data_ptr<float>(),
             .rows = logits.size(0),
             .left_columns = logits.size(1),
             .right_columns = chunk.hidden.size(1),
             .out = pass.weight.data_ptr<float>(),
             .left_sums = pass.bias.data_ptr<float>(),
             .scale = scale,
             .add = begin > 0});
}

LossPass empty_pass(const CrossEntropyInputs& inputs, LossRows::Turn turn) {
  const int64_t rows = inputs.hidden.size(0);
  LossPass pass{
      std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(rows), {}, {}, {}};
  if (turn == LossRows::Turn::keep) return pass;
  const auto wide = inputs.weight.options().dtype(torch::kFloat32);
  pass.hidden = torch::empty(inputs.hidden.sizes(), wide);
  pass.weight = rows == 0 ? torch::zeros(inputs.weight.sizes(), wide)
                          : torch::empty(inputs.weight.sizes(), wide);
  pass.bias = torch::zeros({inputs.weight.size(0)}, wide);
  return pass;
}

/// All tensors contiguous, all targets valid; hidden and weight both float32 or both bfloat16.
LossPass run_pass(const CrossEntropyInputs& inputs, const LossCall& call) {
  const int64_t rows = inputs.hidden.size(0), classes = inputs.weight.size(0);
  const int64_t step = chunk_rows(classes);
  LossPass pass = empty_pass(inputs, call.turn);
  const ChunkMemory memory(inputs, call.turn, step);
  const bool is_capped = inputs.soft_cap != 0;
  const bool add_bias = inputs.bias.defined() && inputs.multiplier != 1;
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    const torch::Tensor logits = memory.logits.slice(0, 0, count);
    const bool is_narrow = memory.narrow.defined();
    const torch::Tensor gradient = is_narrow ? memory.narrow.slice(0, 0, count) : logits;
    const CrossEntropyInputs chunk{inputs.hidden.slice(0, begin, begin + count), inputs.weight,
                                   inputs.bias, inputs.targets, inputs.multiplier};
    project(logits, chunk);
    if (is_capped && add_bias) logits.add_(inputs.bias);
    const torch::Tensor slope = soft_cap_in_place(logits, inputs.soft_cap);
    loss_rows({count, classes, logits.data_ptr<float>(),
               add_bias && !is_capped ? inputs.bias.data_ptr<float>() : nullptr,
               inputs.targets.data_ptr<int64_t>() + begin, call.shares.target, call.shares.every,
               pass.loss.data() + begin, pass.nll.data() + begin, call.turn,
               is_narrow ? bf16_data(gradient) : nullptr, call.z_loss, pass.z_loss.data() + begin});
    if (call.turn != LossRows::Turn::into_gradient) continue;
    if (is_capped) gradient.mul_(slope);
    add_gradients(gradient, chunk, pass, begin);
  }
  return pass;
}

double sum_of(const std::vector<double>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

torch::Tensor scalar(double value) { return torch::tensor(value, torch::kFloat32); }

/// The gradient of the whole hidden tensor from that of the rows that count.
torch::Tensor spread(const torch::Tensor& gradient, const torch::Tensor& like,
                     const torch::Tensor& rows) {
  if (!rows.defined()) return gradient;
  return torch::zeros_like(like).index_copy_(0, rows, gradient);
}

/// The same call on what the products multiply.
CrossEntropyInputs operands(CrossEntropyInputs inputs) {
  const bool narrow = inputs.bf16_weight.defined();
  inputs.hidden = narrow ? rounded(inputs.hidden) : inputs.hidden.contiguous();
  inputs.weight = narrow ? inputs.bf16_weight : inputs.weight.contiguous();
  if (inputs.bias.defined()) inputs.bias = inputs.bias.contiguous();
  inputs.targets = inputs.targets.contiguous();
  return inputs;
}

/// What a forward pass needs besides the tensors that have gradients.
struct LossRest {
  torch::Tensor targets, bf16_weight;
  double multiplier, soft_cap;
  LossCall call;
};

struct FusedCrossEntropy : torch::autograd::Function<FusedCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight,
                               const c10::optional<torch::Tensor>& bias, const LossRest& rest) {
    const auto& [targets, bf16_weight, multiplier, soft_cap, call] = rest;
    const torch::Tensor rows = counted(targets);
    const LossPass pass =
        run_pass(operands({picked(hidden, rows), weight, bias.value_or(torch::Tensor()),
                           picked(targets, rows), multiplier, bf16_weight, soft_cap}),
                 call);
    if (call.turn == LossRows::Turn::into_gradient) {
      context->save_for_backward(
          {spread(pass.hidden, hidden, rows), pass.weight, bias ? pass.bias : torch::Tensor()});
    }
    const double loss = sum_of(pass.loss);
    const torch::Tensor nll = scalar(sum_of(pass.nll));
    if (call.z_loss == 0) {
      context->mark_non_differentiable({nll});
      return {scalar(loss), nll};
    }
    const torch::Tensor reported = scalar(loss);
    context->mark_non_differentiable({nll, reported});
    return {scalar(loss + sum_of(pass.z_loss)), nll, reported};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("cross_entropy");
    variable_list result = context->get_saved_variables();
    const auto scale = gradients[0].item<float>();
    for (torch::Tensor& gradient : result) {
      if (gradient.defined() && scale != 1) gradient = gradient * scale;
    }
    result.emplace_back();
    return result;
  }
};

/// Whether anyone will ask for gradients.
LossRows::Turn turn_of(const CrossEntropyInputs& inputs) {
  return learns({inputs.hidden, inputs.weight, inputs.bias}) ? LossRows::Turn::into_gradient
                                                             : LossRows::Turn::keep;
}

}  // namespace

CrossEntropy cross_entropy(const CrossEntropyInputs& inputs, const CrossEntropyOptions& options) {
  if (!fused_serves({inputs.hidden, inputs.weight, inputs.bias})) {
    return cross_entropy_reference(inputs, options);
  }
  check_targets(inputs);
  const LossCall call{shares_of(options, inputs.weight.size(0)), turn_of(inputs), options.z_loss};
  const variable_list results = FusedCrossEntropy::apply(
      inputs.hidden, inputs.weight, given(inputs.bias),
      LossRest{inputs.targets, inputs.bf16_weight, inputs.multiplier, inputs.soft_cap, call});
  return {results.size() == 3 ? results[2] : results[0], results[1], results[0],
          inputs.targets.ge(0).sum().item<int64_t>()};
}

torch::Tensor target_log_probabilities(const CrossEntropyInputs& inputs) {
  const torch::NoGradGuard no_grad;
  check_targets(inputs);
  const torch::Tensor targets = inputs.targets.clamp_min(0);
  if (fused_serves({inputs.hidden, inputs.weight, inputs.bias})) {
    const LossPass pass =
        run_pass(operands({inputs.hidden, inputs.weight, inputs.bias, targets, inputs.multiplier,
                           inputs.bf16_weight, inputs.soft_cap}),
                 {{1, 0}, LossRows::Turn::keep});
    const torch::Tensor nll = torch::tensor(pass.nll, torch::kFloat32);
    return nll.neg().masked_fill(inputs.targets.lt(0), 0.0);
  }
  const torch::Tensor log_p = torch::log_softmax(reference_logits(inputs, inputs.hidden), -1);
  return log_p.gather(1, targets.unsqueeze(1)).squeeze(1).masked_fill(inputs.targets.lt(0), 0.0);
}

}  // namespace ballast
