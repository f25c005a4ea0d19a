#include "ballast/loops/gathered_attention_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/gathered_attention_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// One head's part of the rows that a sequence sees.
struct Seen {
  const float* all;
  const int32_t* rows;
  int64_t count, stride;

  const float* at(int64_t place) const { return all + rows[place] * stride; }
};

void multiply_seen(const Seen& keys, const float* query, int64_t d_head, float* logits) {
  for (int64_t t = 0; t < keys.count; ++t) logits[t] = dot(query, keys.at(t), d_head);
}

/// Every sum stays in a register while the rows pass by.
void mix_seen(const Seen& values, const float* weights, int64_t d_head, float* out) {
  for_vectors(d_head, [&](size_t, auto load, auto store) HWY_ATTR {
    Vector total = constant(0);
    for (int64_t t = 0; t < values.count; ++t) {
      total = hn::MulAdd(hn::Set(Floats(), weights[t]), load(values.at(t)), total);
    }
    store(total, out);
  });
}

void attend_part(const GatheredCall& call, const SequencePart& part) {
  const AttentionShape& shape = call.shape;
  const int64_t sequence = part.sequence, heads = shape.heads / part.parts;
  const int64_t keys = call.lengths == nullptr ? call.keys : call.lengths[sequence];
  const int64_t d_head = shape.d_head, stride = shape.key_value_heads * d_head;
  const int64_t served = shape.heads / shape.key_value_heads;
  const int32_t* rows = call.rows + sequence * call.row_stride;
  const auto width = static_cast<int64_t>(whole_vectors(keys));
  const Buffer logits = buffer(width);
  std::fill(logits.get() + keys, logits.get() + width, 0.0F);
  for (int64_t head = part.part * heads; head < (part.part + 1) * heads; ++head) {
    const int64_t own = head / served * d_head;
    const int64_t place = (sequence * shape.heads + head) * d_head;
    multiply_seen({call.key + own, rows, keys, stride}, call.query + place, d_head, logits.get());
    const float* bias =
        call.bias == nullptr ? nullptr : call.bias + head * call.bias_width + (call.keys - keys);
    const float most = finish_logits(shape, keys, logits.get(), bias);
    const float total = exponentials(logits.get(), most, keys, logits.get());
    scale_row(logits.get(), 1 / total, nullptr, width);
    mix_seen({call.value + own, rows, keys, stride}, logits.get(), d_head, call.out + place);
  }
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(attend_part);

}  // namespace

void attend_gathered(const GatheredCall& call, const SequencePart& part) {
  HWY_DYNAMIC_DISPATCH(attend_part)(call, part);
}

}  // namespace ballast
#endif
