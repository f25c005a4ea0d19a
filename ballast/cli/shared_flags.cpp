#include "ballast/cli/shared_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <thread>

#include "ballast/base/number.h"

namespace ballast {
namespace {

/// More threads than this only wait for each other.
int64_t most_threads() {
  constexpr int64_t always_allowed = 64, per_core = 4;
  return std::max<int64_t>(always_allowed, per_core * std::thread::hardware_concurrency());
}

}  // namespace

std::function<std::string(const std::string&)> whole_number(int64_t low, int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    const auto value = number_in<int64_t>(text);
    if (value && *value >= low && *value <= high) return {};
    const bool open = high == std::numeric_limits<int64_t>::max();
    return fmt::format(
        "found {}, expected a whole number {}", text,
        open ? fmt::format("at least {}", low) : fmt::format("from {} to {}", low, high));
  };
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_overrides(CLI::App& verb, std::vector<std::string>& overrides) {
  repeatable(verb.add_option("--set", overrides,
                             "Override an option of the recipe: a.b=value; repeatable"));
}

void add_recipe(CLI::App& verb, RecipeFlags& flags) {
  verb.add_option("RECIPE", flags.recipe, "Recipe file (TOML)")->required();
  add_overrides(verb, flags.overrides);
}

void add_run(CLI::App& verb, RunFlags& flags) {
  verb.add_option("--run", flags.run, "Directory of the run")->required();
  verb.add_option("--model", flags.model, "best, last, a step, or a .safetensors file")
      ->capture_default_str();
  add_overrides(verb, flags.overrides);
}

void add_training(CLI::App& verb, TrainingFlags& flags) {
  add_recipe(verb, flags.recipe);
  verb.add_option("--run", flags.run, "Directory of the run; made when there is none")->required();
  add_machine(verb, flags.machine);
}

void add_machine(CLI::App& verb, MachineFlags& flags) {
  verb.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(whole_number(0, most_threads()));
  verb.add_option("--device", flags.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  verb.add_flag("--slow-bf16", flags.slow_bf16,
                "Run precision = \"bf16\" on a processor without instructions for it: the same "
                "rounding, slower than float32");
}

}  // namespace ballast
