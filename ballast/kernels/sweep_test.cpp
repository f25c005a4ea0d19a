#include "ballast/kernels/sweep.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <atomic>

namespace ballast {
namespace {

TEST(Sweep, HandsEachElementOverOnceWithItsNeighboursOfTheOtherTensors) {
  const torch::Tensor large = torch::arange(300001, torch::kFloat), large_too = large.clone();
  const torch::Tensor strided = torch::arange(12, torch::kFloat).view({3, 4}).t();
  const torch::Tensor empty = torch::empty({0});
  const std::vector<TensorList> lists{{large, large_too}, {strided, strided}, {empty, empty}};
  sweep(lists, [&](int64_t i, const TensorList& ranges) {
    ASSERT_EQ(ranges[0].sizes(), ranges[1].sizes());
    EXPECT_TRUE(i != 0 || torch::equal(ranges[0], ranges[1]));
    ranges[0].add_(1);
  });
  EXPECT_TRUE(torch::equal(large, large_too + 1));
  EXPECT_TRUE(torch::equal(strided, torch::arange(12, torch::kFloat).view({3, 4}).t() + 1));
}

TEST(Sweep, AnUndefinedTensorStaysUndefined) {
  const torch::Tensor value = torch::ones({5});
  const std::vector<TensorList> lists{{value, {}}};
  sweep(lists, [](int64_t, const TensorList& ranges) {
    EXPECT_FALSE(ranges[1].defined());
    ranges[0].zero_();
  });
  EXPECT_TRUE(torch::equal(value, torch::zeros({5})));
}

TEST(OneThreadEach, ComesToEveryTensorOnce) {
  std::vector<torch::Tensor> tensors;
  for (int64_t i = 0; i < 20; ++i) tensors.push_back(torch::zeros({i + 1}));
  std::atomic<int64_t> calls = 0;
  one_thread_each(tensors, [&](int64_t i) {
    tensors[static_cast<size_t>(i)].add_(1);
    ++calls;
  });
  EXPECT_EQ(calls, 20);
  for (const torch::Tensor& each : tensors) EXPECT_TRUE(torch::equal(each, torch::ones_like(each)));
}

}  // namespace
}  // namespace ballast
