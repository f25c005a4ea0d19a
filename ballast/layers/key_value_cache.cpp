#include "ballast/layers/key_value_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ballast {
namespace {

/// Writes rows from row `size` on, into a tensor twice as large where they find no room.
void append_to(torch::Tensor& all, int64_t size, const torch::Tensor& rows) {
  const int64_t needed = size + rows.size(0);
  if (!all.defined() || all.size(0) < needed) {
    constexpr int64_t steps_at_first = 16, most_at_first = 512;  // of rows with a prompt among them
    const int64_t more = std::min(steps_at_first * rows.size(0), most_at_first);
    const int64_t larger = std::max(2 * size, needed + more);
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

int64_t Lineage::longest() const {
  return lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
}

void Lineage::make_room(int64_t tokens) {
  const int64_t room = rows_.defined() ? rows_.size(1) : 0;
  const int64_t known = rows_.defined() ? rows_.size(0) : 0;
  if (tokens <= room && known == count()) return;
  constexpr int64_t at_first = 32;
  const int64_t larger = tokens <= room ? room : std::max(2 * tokens, at_first);
  const torch::Tensor grown = torch::zeros({count(), larger}, torch::kInt32);
  if (known > 0) grown.slice(0, 0, known).slice(1, 0, room).copy_(rows_);
  rows_ = grown;
}

void Lineage::add(int64_t count) {
  lengths_.resize(lengths_.size() + static_cast<size_t>(count), 0);
  make_room(0);
}

void Lineage::feed(std::span<const int64_t> tokens) {
  const size_t first = lengths_.size() - tokens.size();
  int64_t needed = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    needed = std::max(needed, lengths_[first + i] + tokens[i]);
  }
  make_room(needed);
  for (size_t i = 0; i < tokens.size(); ++i) {
    int64_t& length = lengths_[first + i];
    int32_t* row = rows_.data_ptr<int32_t>() + static_cast<int64_t>(first + i) * rows_.size(1);
    std::iota(row + length, row + length + tokens[i], static_cast<int32_t>(next_));
    length += tokens[i];
    next_ += tokens[i];
  }
}

void Lineage::extend(int64_t count) {
  if (lengths_.empty()) add(count);
  const std::vector<int64_t> ones(lengths_.size(), 1);
  feed(ones);
}

void Lineage::select(const torch::Tensor& hypotheses) {
  const torch::Tensor kept = hypotheses.cpu().contiguous();
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < kept.numel(); ++i) {
    lengths.push_back(lengths_[static_cast<size_t>(kept.data_ptr<int64_t>()[i])]);
  }
  if (rows_.defined()) rows_ = rows_.index_select(0, kept);
  lengths_ = std::move(lengths);
}

torch::Tensor Lineage::rows(torch::Device device) const {
  return rows_.slice(1, 0, longest()).to(device);
}

}  // namespace ballast
