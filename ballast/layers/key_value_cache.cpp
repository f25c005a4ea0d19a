#include "ballast/layers/key_value_cache.h"

#include <algorithm>

namespace ballast {

void KeyValueCache::append(const KeyValue& rows) {
  reserve(rows);
  key_.select(1, length_).copy_(rows.key);
  value_.select(1, length_).copy_(rows.value);
  ++length_;
}

void KeyValueCache::select(const torch::Tensor& sequences) {
  if (length_ == 0) return;
  const int64_t capacity = key_.size(1);
  const auto kept = [&](const torch::Tensor& all) {
    torch::Tensor chosen = torch::empty({sequences.size(0), capacity, all.size(2)}, all.options());
    chosen.slice(1, 0, length_).copy_(all.slice(1, 0, length_).index_select(0, sequences));
    return chosen;
  };
  key_ = kept(key_);
  value_ = kept(value_);
}

Segments KeyValueCache::segments() const {
  if (length_ == 0) return {};
  return Segments::strided(key_.size(0), key_.size(1), length_);
}

KeyValue KeyValueCache::packed() const { return {key_.flatten(0, 1), value_.flatten(0, 1)}; }

void KeyValueCache::reserve(const KeyValue& rows) {
  const int64_t capacity = key_.defined() ? key_.size(1) : 0;
  if (length_ < capacity) return;
  const int64_t larger = std::max<int64_t>(16, 2 * capacity);
  const auto grown = [&](const torch::Tensor& old, const torch::Tensor& row) {
    torch::Tensor made = torch::empty({row.size(0), larger, row.size(1)}, row.options());
    if (length_ > 0) made.slice(1, 0, length_).copy_(old);
    return made;
  };
  key_ = grown(key_, rows.key);
  value_ = grown(value_, rows.value);
}

}  // namespace ballast
