#include "ballast/base/tensor_pool.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace ballast {
namespace {

constexpr int64_t megabyte = int64_t{1} << 20;

torch::Tensor bytes(int64_t count) { return torch::empty({count}, torch::kUInt8); }

TEST(TensorPool, GivesAFreedBlockToTheNextTensorOfItsSize) {
  pool_large_tensors();
  pool_large_tensors();
  std::optional<torch::Tensor> first = bytes(megabyte);
  const torch::Tensor fence = bytes(megabyte);
  const void* at = first->data_ptr();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
  first.reset();
  EXPECT_EQ(bytes(megabyte).data_ptr(), at);
}

TEST(TensorPool, JoinsFreeNeighbours) {
  pool_large_tensors();
  const torch::Tensor fence = bytes(megabyte);
  std::optional<torch::Tensor> left = bytes(3 * megabyte), right = bytes(3 * megabyte);
  const torch::Tensor behind = bytes(megabyte);
  const void* at = std::min(left->data_ptr(), right->data_ptr());
  left.reset();
  right.reset();
  const torch::Tensor both = bytes(6 * megabyte);
  EXPECT_EQ(both.data_ptr(), at);
}

TEST(TensorPool, ServesManyThreadsWithoutMixingTheirTensors) {
  pool_large_tensors();
  const auto work = [](int seed, bool& right) {
    std::vector<torch::Tensor> mine;
    for (int i = 0; i < 200; ++i) {
      const int64_t size = (1 + (seed * 31 + i * 17) % 40) * 10'007;
      mine.push_back(torch::full({size}, seed, torch::kUInt8));
      if (i % 3 == 2) mine.erase(mine.begin() + i % 7 % static_cast<int>(mine.size()));
    }
    right = std::all_of(mine.begin(), mine.end(),
                        [&](const torch::Tensor& t) { return t.eq(seed).all().item<bool>(); });
  };
  bool first = false, second = false;
  std::thread other(work, 1, std::ref(first));
  work(2, second);
  other.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(TensorPool, LeavesTensorsThatAreOlderOrSmallOrTooLargeToLibtorch) {
  std::optional<torch::Tensor> older = torch::ones({int64_t{1} << 20});
  pool_large_tensors();
  older.reset();
  EXPECT_EQ(torch::ones({3}).sum().item<float>(), 3);
  EXPECT_EQ(torch::empty({0}).numel(), 0);
  EXPECT_THROW(bytes(int64_t{1} << 50), c10::Error);
}

}  // namespace
}  // namespace ballast
