#include "ballast/loops/cross_entropy_loops.h"

#include <cmath>
#include <limits>

#include "ballast/loops/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/cross_entropy_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/bf16_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// Classes summed in float32 before the sum goes on in float64.
constexpr int64_t block = 1024;

/// body(begin, count) over blocks of a row.
template <class Body>
void for_blocks(int64_t classes, const Body& body) {
  for (int64_t at = 0; at < classes; at += block) body(at, std::min(block, classes - at));
}

/// Adds the bias; returns the largest logit and the sum of all.
struct Range {
  float most;
  double sum;
};

Range finish_row(float* row, const float* bias, int64_t classes) {
  Range range{-std::numeric_limits<float>::infinity(), 0};
  for_blocks(classes, [&](int64_t at, int64_t count) {
    Vector most = constant(-std::numeric_limits<float>::infinity()), total = constant(0);
    for_vectors(count, [&](size_t i, auto load, auto store) HWY_ATTR {
      Vector v = load(row + at);
      if (bias != nullptr) v = hn::Add(v, load(bias + at));
      store(v, row + at);
      total = hn::Add(total, v);
      const auto real = hn::FirstN(Floats(), count - i);
      most = hn::Max(most, hn::IfThenElse(real, v, most));
    });
    range.most = std::max(range.most, largest(most));
    range.sum += sum(total);
  });
  return range;
}

/// Logits to exp(logit - shift) where `turn` asks for it; returns their sum.
double exponential_sum(float* row, float shift, int64_t classes, LossRows::Turn turn) {
  double total = 0;
  const Vector least = constant(shift);
  for_blocks(classes, [&](int64_t at, int64_t count) {
    Vector part = constant(0);
    for_vectors(count, [&](size_t i, auto load, auto store) HWY_ATTR {
      const Vector e = exp(hn::Sub(load(row + at), least));
      part = hn::Add(part, hn::IfThenElseZero(hn::FirstN(Floats(), count - i), e));
      if (turn == LossRows::Turn::into_gradient) store(e, row + at);
    });
    total += sum(part);
  });
  return total;
}

/// p - every_share, and less target_share at the target: the shares of both conventions sum to 1.
/// `weight` is that of p: with the z-loss 1 + 2 z_share log Z.
template <class T>
void finish_gradient(const LossRows& rows, const float* row, T* out, double weight, double total,
                     int64_t target) {
  const Vector scale = constant(weight / total), every = constant(rows.every_share);
  const Vector at_target =
      hn::Sub(hn::MulSub(constant(row[target]), scale, every), constant(rows.target_share));
  for_places(rows.classes,
             [&](auto at) HWY_ATTR { at.store(hn::MulSub(at.load(row), scale, every), out); });
  Place<false>{static_cast<size_t>(target), 1}.store(at_target, out);
}

void finish_losses(const LossRows& rows, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    float* row = rows.logits + r * rows.classes;
    const Range range = finish_row(row, rows.bias, rows.classes);
    const double target = row[rows.targets[r]];
    const double total = exponential_sum(row, range.most, rows.classes, rows.turn);
    const double log_sum = range.most + std::log(total);
    rows.nll[r] = log_sum - target;
    rows.loss[r] = rows.target_share * rows.nll[r] +
                   rows.every_share * (static_cast<double>(rows.classes) * log_sum - range.sum);
    if (rows.z_share != 0) rows.z_loss[r] = rows.z_share * log_sum * log_sum;
    if (rows.turn == LossRows::Turn::keep) continue;
    const double weight = rows.z_share == 0 ? 1 : 1 + 2 * rows.z_share * log_sum;
    if (rows.narrow == nullptr) {
      finish_gradient(rows, row, row, weight, total, rows.targets[r]);
    } else {
      finish_gradient(rows, row, rows.narrow + r * rows.classes, weight, total, rows.targets[r]);
    }
  }
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(finish_losses);

}  // namespace

void loss_rows(const LossRows& rows) {
  const RowBlocks blocks(rows.rows, 4, 64);
  for_each_task(blocks.count(), [&](int64_t task) {
    HWY_DYNAMIC_DISPATCH(finish_losses)(rows, blocks.begin(task), blocks.end(task));
  });
}

}  // namespace ballast
#endif
