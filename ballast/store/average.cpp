#include "ballast/store/average.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {

namespace {

std::string describe(const NamedTensor& tensor) {
  return fmt::format("\"{}\" {} [{}]", tensor.name, torch::toString(tensor.value.scalar_type()),
                     fmt::join(tensor.value.sizes(), ", "));
}

/// The tensors of a file with descriptions that are equal for files that can be averaged.
struct SortedFile {
  NamedTensors tensors;
  std::optional<int64_t> step;
  std::vector<std::string> descriptions;
};

SortedFile read_sorted(const std::filesystem::path& path) {
  SafeTensors read = read_safetensors(path);
  const auto step = step_of(read, path);
  SortedFile result{.tensors = std::move(read.tensors), .step = step, .descriptions = {}};
  std::ranges::sort(result.tensors, {}, &NamedTensor::name);
  for (const auto& tensor : result.tensors) result.descriptions.push_back(describe(tensor));
  return result;
}

void check_alike(const std::vector<std::string>& first, const std::vector<std::string>& other,
                 const std::string& files) {
  const auto [here, there] = std::ranges::mismatch(first, other);
  if (here == first.end() && there == other.end()) return;
  throw StoreError(
      fmt::format("{} differ: the one has {} where the other has {}; expected files of one model",
                  files, here == first.end() ? "no more tensors" : *here,
                  there == other.end() ? "no more tensors" : *there));
}

/// Adds a file's tensor to a sum in float64; a whole number replaces the one before it.
void accumulate(torch::Tensor& sum, const torch::Tensor& value) {
  if (!value.is_floating_point()) {
    sum = value;
  } else if (sum.defined()) {
    sum.add_(value);
  } else {
    sum = value.to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
  }
}

}  // namespace

SafeTensors average(std::span<const std::filesystem::path> model_files) {
  if (model_files.empty()) throw StoreError("there is no model file to average; name at least one");
  const auto first = read_sorted(model_files.front());
  std::vector<torch::Tensor> sums(first.tensors.size());
  std::optional<int64_t> last = first.step;
  for (const auto& path : model_files) {
    const auto other = read_sorted(path);
    last = last && other.step ? std::max(last, other.step) : std::nullopt;
    check_alike(first.descriptions, other.descriptions,
                fmt::format("{} and {}", model_files.front().string(), path.string()));
    for (size_t i = 0; i < sums.size(); ++i) accumulate(sums[i], other.tensors[i].value);
  }
  NamedTensors means;
  const auto count = static_cast<double>(model_files.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto& [name, value] = first.tensors[i];
    const bool is_mean = value.is_floating_point();
    means.push_back({name, is_mean ? sums[i].div(count).to(value.scalar_type()) : sums[i]});
  }
  return {std::move(means), model_metadata(last)};
}

}  // namespace ballast
