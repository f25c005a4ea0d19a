#include "ballast/cli/shared_flags.h"

#include <CLI/CLI.hpp>

namespace ballast {

void add_overrides(CLI::App& verb, std::vector<std::string>& overrides) {
  verb.add_option("--set", overrides, "Override an option of the recipe: a.b=value; repeatable")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
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

void add_machine(CLI::App& verb, MachineFlags& flags) {
  verb.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--device", flags.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  verb.add_flag("--slow-bf16", flags.slow_bf16,
                "Run precision = \"bf16\" on a processor without instructions for it: the same "
                "rounding, slower than float32");
}

}  // namespace ballast
