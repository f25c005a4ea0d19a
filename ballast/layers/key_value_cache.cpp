#include "ballast/layers/key_value_cache.h"

#include <algorithm>

namespace ballast {
namespace {

/// Writes rows from row `size` on, into a tensor twice as large where they find no room.
void append_to(torch::Tensor& all, int64_t size, const torch::Tensor& rows) {
  const int64_t needed = size + rows.size(0);
  if (!all.defined() || all.size(0) < needed) {
    constexpr int64_t steps_at_first = 16;
    const int64_t larger = std::max(2 * size, steps_at_first * rows.size(0));
    torch::Tensor grown = torch::empty({larger, rows.size(1)}, rows.options());
    if (size > 0) grown.slice(0, 0, size).copy_(all.slice(0, 0, size));
    all = grown;
  }
  all.slice(0, size, needed).copy_(rows);
}

}  // namespace

void KeyValueCache::append(const KeyValue& rows) {
  append_to(key_, size_, rows.key.alone());
  append_to(value_, size_, rows.value.alone());
  size_ += rows.key.rows.size(0);
}

KeyValue KeyValueCache::packed() const {
  if (size_ == 0) return {};
  return {key_.slice(0, 0, size_), value_.slice(0, 0, size_)};
}

void Lineage::extend(int64_t count, torch::Device device) {
  const auto options = torch::TensorOptions(torch::kInt32).device(device);
  const torch::Tensor added = torch::arange(next_, next_ + count, options).unsqueeze(1);
  rows_ = rows_.defined() ? torch::cat({rows_, added}, 1) : added;
  next_ += count;
}

void Lineage::select(const torch::Tensor& hypotheses) {
  if (rows_.defined()) rows_ = rows_.index_select(0, hypotheses);
}

}  // namespace ballast
