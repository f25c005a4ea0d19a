#include "ballast/kernels/comparison.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <torch/autograd.h>
#include <torch/utils.h>

namespace ballast {
namespace {

using Tensors = std::vector<torch::Tensor>;

Tensors leaves(const Tensors& inputs, torch::ScalarType type) {
  Tensors out;
  for (const torch::Tensor& t : inputs) {
    out.push_back(t.defined() ? t.detach().to(type, false, true).set_requires_grad(true) : t);
  }
  return out;
}

torch::Tensor weighted_sum(const torch::Tensor& result) {
  std::vector<int64_t> sizes(result.sizes().begin(), result.sizes().end());
  return (result * drawn(sizes, 99).to(result.scalar_type())).sum();
}

/// Relative errors of the result and of each gradient.
std::vector<double> errors(const Kernel& fused, const Kernel& reference, const Tensors& inputs) {
  const Tensors measured = with_gradients(fused, inputs);
  const Tensors at = leaves(inputs, torch::kFloat64);
  const torch::Tensor result = reference(at);
  weighted_sum(result).backward();
  std::vector<double> all{relative_error(measured[0], result)};
  for (const torch::Tensor& t : at) {
    if (!t.defined()) continue;
    const torch::Tensor expected = t.grad().defined() ? t.grad() : torch::zeros_like(t);
    all.push_back(relative_error(measured[all.size()], expected));
  }
  return all;
}

bool equal(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const torch::Tensor& x, const torch::Tensor& y) { return x.equal(y); });
}

}  // namespace

double relative_error(const torch::Tensor& a, const torch::Tensor& b) {
  const double difference = (a.to(torch::kFloat64) - b.to(torch::kFloat64)).norm().item<double>();
  const double size = b.to(torch::kFloat64).norm().item<double>();
  return size == 0 ? difference : difference / size;
}

Tensors with_gradients(const Kernel& kernel, const Tensors& inputs) {
  const Tensors at = leaves(inputs, torch::kFloat32);
  const torch::Tensor result = kernel(at);
  weighted_sum(result).backward();
  Tensors all{result.detach()};
  for (const torch::Tensor& t : at) {
    if (t.defined()) all.push_back(t.grad());
  }
  return all;
}

double error_against_reference(const Kernel& fused, const Kernel& reference,
                               const Tensors& inputs) {
  const std::vector<double> all = errors(fused, reference, inputs);
  return *std::max_element(all.begin(), all.end());
}

double error_beyond_rounding(const Kernel& fused, const Kernel& reference, const Tensors& inputs) {
  const std::vector<double> all = errors(fused, reference, inputs);
  const std::vector<double> rounding = errors(reference, reference, inputs);
  double worst = 0;
  for (size_t i = 0; i < all.size(); ++i) worst = std::max(worst, all[i] - 4 * rounding[i]);
  return worst;
}

double finite_difference_error(const Kernel& reference, const Tensors& inputs) {
  constexpr double step = 1e-5;
  const Tensors at = leaves(inputs, torch::kFloat64);
  weighted_sum(reference(at)).backward();
  double slope = 0;
  Tensors ahead, behind;
  for (size_t i = 0; i < at.size(); ++i) {
    if (!at[i].defined()) {
      ahead.emplace_back();
      behind.emplace_back();
      continue;
    }
    std::vector<int64_t> sizes(at[i].sizes().begin(), at[i].sizes().end());
    const torch::Tensor direction = drawn(sizes, 7 + i).to(torch::kFloat64);
    slope += (at[i].grad() * direction).sum().item<double>();
    ahead.push_back(at[i].detach() + direction * step);
    behind.push_back(at[i].detach() - direction * step);
  }
  const double difference =
      (weighted_sum(reference(ahead)) - weighted_sum(reference(behind))).item<double>();
  return std::abs(difference / (2 * step) - slope) / std::max(1e-3, std::abs(slope));
}

bool repeats_bit_for_bit(const Kernel& kernel, const Tensors& inputs) {
  const ThreadScope two(2);
  return equal(with_gradients(kernel, inputs), with_gradients(kernel, inputs));
}

bool same_for_any_threads(const Kernel& kernel, const Tensors& inputs) {
  const ThreadScope two(2);
  const Tensors first = with_gradients(kernel, inputs);
  const ThreadScope one(1);
  return equal(first, with_gradients(kernel, inputs));
}

torch::Tensor drawn(std::vector<int64_t> sizes, uint64_t seed) {
  return torch::randn(sizes, at::detail::createCPUGenerator(seed));
}

void on_every_target(const std::function<void()>& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
}

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()) {
  at::set_num_threads(threads);
}
ThreadScope::~ThreadScope() { at::set_num_threads(before_); }

TEST(RelativeError, IsTheSizeItselfWhereTheExpectedTensorIsZero) {
  EXPECT_DOUBLE_EQ(relative_error(torch::full({4}, 3.0), torch::zeros({4})), 6.0);
  EXPECT_DOUBLE_EQ(relative_error(torch::full({4}, 3.0), torch::full({4}, 2.0)), 0.5);
}

}  // namespace ballast
