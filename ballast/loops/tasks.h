#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ballast {

/// Runs body(task) for tasks 0 .. count - 1 on libtorch's threads, each taking the next task that
/// is left, so that long tasks and busy cores are evened out. A task must own what it writes; then
/// nothing depends on who ran it.
template <class Body>
void for_each_task(int64_t count, const Body& body) {
  std::atomic<int64_t> next{0};
  const int64_t threads = std::min<int64_t>(count, at::get_num_threads());
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (int64_t task = next++; task < count; task = next++) body(task);
  });
}

/// A range of rows in blocks whose borders depend on nothing but the number of rows.
class RowBlocks {
 public:
  RowBlocks(int64_t rows, int64_t least, int64_t most_blocks)
      : rows_(rows), size_(std::max(least, (rows + most_blocks - 1) / most_blocks)) {}

  int64_t count() const { return (rows_ + size_ - 1) / size_; }
  int64_t size() const { return size_; }
  int64_t begin(int64_t block) const { return block * size_; }
  int64_t end(int64_t block) const { return std::min(rows_, (block + 1) * size_); }

 private:
  int64_t rows_, size_;
};

}  // namespace ballast
