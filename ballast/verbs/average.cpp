#include "ballast/store/average.h"

#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/store/run_directory.h"
#include "ballast/store/safetensors.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

void run_average(const AverageFlags& flags) {
  const RunDirectory directory = RunDirectory::open(flags.run);
  std::vector<int64_t> steps = directory.steps();
  if (steps.empty()) {
    throw StoreError(fmt::format("{}: no saved step to average", flags.run.string()));
  }
  const auto count = std::min<size_t>(steps.size(), static_cast<size_t>(flags.last));
  steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(count));
  std::vector<std::filesystem::path> files;
  for (const int64_t step : steps) files.push_back(directory.model_file(step));
  const std::filesystem::path output =
      flags.output.empty() ? directory.file("averaged.safetensors") : flags.output;
  const SafeTensors mean = ballast::average(files);
  write_safetensors(output, mean.tensors, mean.metadata);
  fmt::print("averaged steps {} to {} ({} checkpoints) into {}\n", steps.front(), steps.back(),
             count, output.string());
}

}  // namespace

void average(const AverageFlags& flags) {
  at_boundary(lower_for_reading, [&] { run_average(flags); });
}

}  // namespace ballast::verbs
