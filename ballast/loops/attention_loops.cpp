#include "ballast/loops/attention_loops.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/attention_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// Logits to probabilities after dropout; keeps what the backward pass needs to repeat them.
void softmax_rows(const AttentionForward& call, const Rows& rows, float* logits, float* scratch) {
  const size_t width = whole_vectors(rows.span.keys);
  for (int64_t r = 0; r < rows.count; ++r) {
    float* row = logits + r * width;
    const int64_t visible = rows.visible(r);
    const auto end = static_cast<int64_t>(whole_vectors(visible));
    const float* bias = call.bias.row(rows.head, rows.position(r));
    const float most = finish_logits(rows.shape, visible, row, bias);
    const float total = exponentials(row, most, visible, row);
    call.log_sum[rows.packed_row(r) * rows.shape.heads + rows.head] = most + std::log(total);
    if (visible > 0) scale_row(row, 1 / total, factors_of(rows, r, end, scratch), end);
  }
}

/// Logits of few query rows, for which a transposed copy of the keys would not pay.
void multiply_few(const Rows& rows, const HeadRows<const float>& query,
                  const HeadRows<const float>& key, float* out) {
  const auto width = static_cast<int64_t>(whole_vectors(rows.span.keys));
  for (int64_t r = 0; r < rows.count; ++r) {
    float* to = out + r * width;
    for (int64_t s = 0; s < rows.span.keys; ++s) {
      to[s] = dot(rows.of(query, r), key.at(s, 0), rows.shape.d_head);
    }
    std::fill(to + rows.span.keys, to + width, 0.0F);
  }
}

void attend_group(const AttentionForward& call, const AttentionSpan& span, int64_t group) {
  const AttentionShape& shape = call.shape;
  constexpr int64_t few = 8;
  const HeadRows key = head_of(call.key, span, group, shape.d_head);
  const HeadRows value = head_of(call.value, span, group, shape.d_head);
  const bool by_dots = span.queries * (shape.heads / shape.key_value_heads) <= few;
  const Buffer keys = by_dots ? Buffer() : transposed(key, shape.d_head, span.keys);
  const size_t width = whole_vectors(span.keys);
  const Buffer logits = buffer(std::min(block_rows(span.keys), span.queries) * width),
               scratch = buffer(width);
  for_each_block(shape, span, group, [&](const Rows& rows) {
    if (by_dots) {
      multiply_few(rows, call.query, key, logits.get());
    } else {
      multiply_rows(rows, call.query, keys.get(), logits.get());
    }
    softmax_rows(call, rows, logits.get(), scratch.get());
    multiply(mix(rows, logits.get(), value, call.out));
  });
}

/// Gradient of the products q k of one row; `kept` becomes the probabilities after dropout.
struct RowGradient {
  const float* logits;
  float *kept, *gradient;  ///< in: probabilities, gradient of the kept ones
  const float* factors;
  float mean;            ///< sum of probability times its gradient
  const float* bias;     ///< in the logits, or null
  float* bias_gradient;  ///< added to, or null
};

void logit_gradient(const AttentionShape& shape, const RowGradient& row, int64_t visible) {
  const Floats d;
  const Vector mean = hn::Set(d, row.mean), scale = hn::Set(d, shape.scale);
  for (int64_t i = 0; i < visible; i += static_cast<int64_t>(lanes())) {
    const Vector p = hn::LoadU(d, row.kept + i);
    Vector g = hn::LoadU(d, row.gradient + i);
    if (row.factors != nullptr) {
      const Vector factor = hn::LoadU(d, row.factors + i);
      hn::StoreU(hn::Mul(p, factor), d, row.kept + i);
      g = hn::Mul(g, factor);
    }
    g = hn::IfThenElseZero(hn::FirstN(d, visible - i), hn::Mul(p, hn::Sub(g, mean)));
    Vector capped = hn::LoadU(d, row.logits + i);
    if (row.bias != nullptr) {
      capped = hn::Sub(capped, hn::LoadU(d, row.bias + i));
      hn::StoreU(hn::Add(hn::LoadU(d, row.bias_gradient + i), g), d, row.bias_gradient + i);
    }
    g = hn::Mul(g, scale);
    if (shape.soft_cap > 0) {
      const Vector t = hn::Div(capped, hn::Set(d, shape.soft_cap));
      g = hn::Mul(g, hn::NegMulAdd(t, t, hn::Set(d, 1.0F)));
    }
    hn::StoreU(g, d, row.gradient + i);
  }
}

/// Matrices of a block of rows.
struct Scratch {
  Buffer logits, kept, gradient, factors;
};

void gradient_rows(const AttentionBackward& call, const Rows& rows, const Scratch& scratch) {
  const DistanceBias& bias = call.forward.bias;
  const DistanceBias bias_gradient = call.bias.of_sequence(rows.shape.heads, rows.span.sequence);
  const size_t width = whole_vectors(rows.span.keys);
  for (int64_t r = 0; r < rows.count; ++r) {
    float* logits = scratch.logits.get() + r * width;
    float* kept = scratch.kept.get() + r * width;
    const int64_t visible = rows.visible(r), position = rows.position(r);
    const auto end = static_cast<int64_t>(whole_vectors(visible));
    finish_logits(rows.shape, visible, logits, bias.row(rows.head, position));
    const int64_t place = rows.packed_row(r) * rows.shape.heads + rows.head;
    exponentials(logits, call.forward.log_sum[place], visible, kept);
    const float mean =
        dot(rows.of(call.gradient, r), rows.of(call.forward.out, r), rows.shape.d_head);
    const float* factors = factors_of(rows, r, end, scratch.factors.get());
    logit_gradient(rows.shape,
                   {.logits = logits,
                    .kept = kept,
                    .gradient = scratch.gradient.get() + r * width,
                    .factors = factors,
                    .mean = mean,
                    .bias = bias.row(rows.head, position),
                    .bias_gradient = bias_gradient.row(rows.head, position)},
                   visible);
  }
}

void attend_group_backward(const AttentionBackward& call, const AttentionSpan& span,
                           int64_t group) {
  const AttentionForward& forward = call.forward;
  const AttentionShape& shape = forward.shape;
  const auto of_group = [&](const auto& rows) { return head_of(rows, span, group, shape.d_head); };
  const HeadRows key = of_group(forward.key);
  const HeadRows key_gradient = of_group(call.key), value_gradient = of_group(call.value);
  set_to_zero(key_gradient, span.keys, shape.d_head);
  set_to_zero(value_gradient, span.keys, shape.d_head);
  const Buffer keys = transposed(key, shape.d_head, span.keys);
  const Buffer values = transposed(of_group(forward.value), shape.d_head, span.keys);
  const size_t width = whole_vectors(span.keys), size = block_rows(span.keys) * width;
  const Scratch scratch{buffer(size), buffer(size), buffer(size), buffer(width)};
  for_each_block(shape, span, group, [&](const Rows& rows) {
    if (rows.most_visible() == 0) {
      return set_to_zero({rows.of(call.query), call.query.row}, rows.count, shape.d_head);
    }
    multiply_rows(rows, forward.query, keys.get(), scratch.logits.get());
    multiply_rows(rows, call.gradient, values.get(), scratch.gradient.get());
    gradient_rows(call, rows, scratch);
    multiply(mix(rows, scratch.gradient.get(), key, call.query));
    multiply(mix_back(rows, scratch.gradient.get(), forward.query, key_gradient));
    multiply(mix_back(rows, scratch.kept.get(), call.gradient, value_gradient));
  });
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(attend_group);
HWY_EXPORT(attend_group_backward);

}  // namespace

void attend(const AttentionForward& call, const AttentionSpan& span, int64_t key_value_head) {
  HWY_DYNAMIC_DISPATCH(attend_group)(call, span, key_value_head);
}

void attend_backward(const AttentionBackward& call, const AttentionSpan& span,
                     int64_t key_value_head) {
  HWY_DYNAMIC_DISPATCH(attend_group_backward)(call, span, key_value_head);
}

}  // namespace ballast
#endif
