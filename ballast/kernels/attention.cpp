#include "ballast/kernels/attention.h"

#include <torch/autograd.h>

#include <algorithm>

#include "ballast/kernels/distance_bias.h"
#include "ballast/kernels/held.h"
#include "ballast/kernels/second_derivative.h"
#include "ballast/kernels/select.h"
#include "ballast/loops/attention_loops.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Which of a call's tensors holds some columns, and from where on.
struct Place {
  int64_t tensor, first;
};

struct AttentionCall {
  AttentionShape shape;
  Place query, key, value;
  std::vector<AttentionSpan> spans;
  bool covered;  ///< every query row lies in a sequence, so none is left to be set to 0
  std::vector<bool> written;  ///< per tensor: the backward pass writes all of its gradient
};

/// The tensors of a call, each once where the columns taken from it have nothing in common: their
/// gradients are then written beside each other.
class Placement {
 public:
  Place of(const Columns& columns) {
    const auto apart = [&](const Columns& other) {
      return !other.rows.is_same(columns.rows) || other.first + other.width <= columns.first ||
             columns.first + columns.width <= other.first;
    };
    const bool fits = std::all_of(placed_.begin(), placed_.end(), apart);
    placed_.push_back(columns);
    const auto same = [&](const torch::Tensor& t) { return t.is_same(columns.rows); };
    const auto found = fits ? std::find_if(tensors_.begin(), tensors_.end(), same) : tensors_.end();
    const int64_t tensor = found - tensors_.begin();
    if (found == tensors_.end()) {
      tensors_.push_back(columns.rows);
      widths_.push_back(0);
    }
    widths_[tensor] += columns.width;
    return {tensor, columns.first};
  }

  at::TensorList tensors() const { return tensors_; }

  /// Per tensor: none of its columns is left over.
  std::vector<bool> whole() const {
    std::vector<bool> all;
    for (size_t i = 0; i < tensors_.size(); ++i) all.push_back(widths_[i] == tensors_[i].size(1));
    return all;
  }

 private:
  variable_list tensors_;
  std::vector<int64_t> widths_;
  std::vector<Columns> placed_;
};

AttentionCall call_of(const AttentionInputs& inputs, const AttentionOptions& options,
                      Placement& placement) {
  const AttentionShape shape{options.heads,
                             options.key_value_heads,
                             inputs.query.width / options.heads,
                             static_cast<float>(options.scale),
                             static_cast<float>(options.soft_cap),
                             options.causal,
                             drop_row_of(options.dropout)};
  AttentionCall call{shape,
                     placement.of(inputs.query),
                     placement.of(inputs.key),
                     placement.of(inputs.value),
                     {},
                     inputs.queries.tokens() == inputs.query.rows.size(0),
                     placement.whole()};
  const int64_t keys = inputs.keys.tokens();
  if (!call.covered || keys != inputs.key.rows.size(0) || keys != inputs.value.rows.size(0)) {
    call.written.assign(call.written.size(), false);
  }
  for (int64_t b = 0; b < inputs.queries.count(); ++b) {
    call.spans.push_back({inputs.queries.begin(b), inputs.queries.length(b), inputs.keys.begin(b),
                          inputs.keys.length(b), b});
  }
  return call;
}

/// Two sequences that share rows would add to the same gradients at the same time.
bool overlaps(std::vector<std::pair<int64_t, int64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  return std::adjacent_find(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
           return a.second > b.first;
         }) != ranges.end();
}

bool overlaps(const Segments& segments) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t b = 0; b < segments.count(); ++b) {
    if (segments.length(b) == 0) continue;
    ranges.emplace_back(segments.begin(b), segments.begin(b) + segments.length(b));
  }
  return overlaps(std::move(ranges));
}

template <class Body>
void for_each_group(const AttentionCall& call, const Body& body) {
  const int64_t groups = call.shape.key_value_heads;
  for_each_task(static_cast<int64_t>(call.spans.size()) * groups,
                [&](int64_t task) { body(call.spans[task / groups], task % groups); });
}

/// The bias of every distance that occurs, and of as many more as a vector may read past them.
torch::Tensor widened(const AttentionInputs& inputs) {
  if (!inputs.relative_bias.defined()) return {};
  const int64_t most = std::max(inputs.queries.longest(), inputs.keys.longest());
  return bias_at(inputs.relative_bias,
                 torch::arange(-most, most + DistanceBias::spare, torch::kInt64));
}

DistanceBias distance_bias(const torch::Tensor& table) {
  if (!table.defined()) return {};
  const int64_t width = table.size(-1);
  return {table.data_ptr<float>(), width, (width - DistanceBias::spare) / 2};
}

HeadRows<float> rows_at(const variable_list& tensors, const Place& place) {
  const torch::Tensor& t = tensors[place.tensor];
  return {t.data_ptr<float>() + place.first, t.size(1)};
}

HeadRows<const float> read_at(const variable_list& tensors, const Place& place) {
  const HeadRows<float> rows = rows_at(tensors, place);
  return {rows.data, rows.row};
}

/// What a forward pass leaves behind for the backward pass, besides the tensors it read.
struct Left {
  torch::Tensor out, log_sum, bias;
};

AttentionForward forward_pass(const AttentionCall& call, const variable_list& read,
                              const Left& left) {
  return {call.shape,
          read_at(read, call.query),
          read_at(read, call.key),
          read_at(read, call.value),
          {left.out.data_ptr<float>(), left.out.size(1)},
          left.log_sum.data_ptr<float>(),
          distance_bias(left.bias)};
}

struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static torch::Tensor forward(AutogradContext* context, at::TensorList tensors,
                               const c10::optional<torch::Tensor>& bias,
                               const AttentionCall& call) {
    variable_list read;
    for (const torch::Tensor& each : tensors) read.push_back(each.contiguous());
    const torch::Tensor& queries = read[call.query.tensor];
    const int64_t rows = queries.size(0), heads = call.shape.heads;
    const std::vector<int64_t> sizes{rows, heads * call.shape.d_head};
    const Left left{call.covered ? torch::empty(sizes, queries.options())
                                 : torch::zeros(sizes, queries.options()),
                    torch::empty({rows, heads}, queries.options()), bias.value_or(torch::Tensor())};
    const AttentionForward pass = forward_pass(call, read, left);
    for_each_group(call,
                   [&](const AttentionSpan& span, int64_t group) { attend(pass, span, group); });
    hold(*context, call);
    read.insert(read.end(), {left.out, left.log_sum, left.bias});
    context->save_for_backward(read);
    return left.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative("attention");
    variable_list read = context->get_saved_variables();
    const auto& call = held<AttentionCall>(*context);
    const Left left{read.end()[-3], read.end()[-2], read.end()[-1]};
    read.resize(read.size() - 3);
    const torch::Tensor gradient = gradients[0].contiguous();
    variable_list found;
    for (size_t i = 0; i < read.size(); ++i) {
      found.push_back(call.written[i] ? torch::empty_like(read[i]) : torch::zeros_like(read[i]));
    }
    torch::Tensor bias;
    if (left.bias.defined()) {
      bias = torch::zeros(
          {static_cast<int64_t>(call.spans.size()), left.bias.size(0), left.bias.size(1)});
    }
    const AttentionBackward pass{
        forward_pass(call, read, left), {gradient.data_ptr<float>(), gradient.size(1)},
        rows_at(found, call.query),     rows_at(found, call.key),
        rows_at(found, call.value),     distance_bias(bias)};
    for_each_group(call, [&](const AttentionSpan& span, int64_t group) {
      attend_backward(pass, span, group);
    });
    found.push_back(bias.defined() ? bias.sum(0) : bias);
    found.emplace_back();
    return found;
  }
};

}  // namespace

torch::Tensor attention(const AttentionInputs& inputs, const AttentionOptions& options) {
  const torch::Tensor &query = inputs.query.rows, &key = inputs.key.rows,
                      &value = inputs.value.rows;
  if (!fused_serves({query, key, value, inputs.relative_bias})) {
    return attention_reference(inputs, options);
  }
  if (learns({query, key, value, inputs.relative_bias}) &&
      (overlaps(inputs.queries) || overlaps(inputs.keys))) {
    return attention_reference(inputs, options);
  }
  Placement placement;
  const AttentionCall call = call_of(inputs, options, placement);
  return FusedAttention::apply(placement.tensors(), given(widened(inputs)), call);
}

}  // namespace ballast
