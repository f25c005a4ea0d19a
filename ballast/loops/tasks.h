#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ballast {

/// Runs body(task) for tasks 0 .. count - 1 on libtorch's threads, each taking the next task that
/// is left, so that long tasks and busy cores are evened out. A task must own what it writes; then
/// nothing depends on who ran it. Returns when all are done. Called from inside a parallel region,
/// it runs them all in the calling thread.
template <class Body>
void for_each_task(int64_t count, const Body& body) {
  std::atomic<int64_t> next{0};
  const int64_t threads = std::min<int64_t>(count, at::get_num_threads());
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (int64_t task = next++; task < count; task = next++) body(task);
  });
}

/// Rows in up to `most_blocks` blocks of one size, `least` rows or more, the last one with what is
/// left. The borders depend on nothing but these numbers, so partial sums by blocks, added in
/// order, have the same bits for any number of threads.
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
