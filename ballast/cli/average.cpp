#include "ballast/store/average.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/base/error.h"
#include "ballast/cli/verbs.h"
#include "ballast/store/run_directory.h"
#include "ballast/store/safetensors.h"

namespace ballast {
namespace {

struct Flags {
  std::filesystem::path run, output;
  int64_t last = 3;
};

void average_run(const Flags& flags) {
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
  write_safetensors(output, average(files), {{"format", "pt"}});
  fmt::print("averaged steps {} to {} ({} checkpoints) into {}\n", steps.front(), steps.back(),
             count, output.string());
}

}  // namespace

void add_average(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("average", "Average the last checkpoints of a run");
  verb->add_option("--run", flags->run, "Directory of the run")->required();
  verb->add_option("--last", flags->last, "How many checkpoints (train.keep decides what is there)")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--output", flags->output, "File to write (RUN/averaged.safetensors)");
  verb->footer("Then: ballast translate --run RUN --model RUN/averaged.safetensors");
  verb->callback([flags] { average_run(*flags); });
}

}  // namespace ballast
