#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ballast/verbs/flags.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ballast {

// Flags that several verbs take, and what their values may be.

/// A check for `CLI::Option::check`: what is wrong with the value of an option that takes whole
/// numbers from `low` to `high`, empty when nothing is.
std::function<std::string(const std::string&)> whole_number(
    int64_t low, int64_t high = std::numeric_limits<int64_t>::max());

/// Makes an option take one value each time it is given, and all of them in order; so it swallows
/// no word that follows.
CLI::Option* repeatable(CLI::Option* option);

/// `--set a.b=value`, once for each override.
void add_overrides(CLI::App& verb, std::vector<std::string>& overrides);

/// A recipe file, required, and its overrides.
void add_recipe(CLI::App& verb, RecipeFlags& flags);

/// `--run`, required, `--model` and overrides.
void add_run(CLI::App& verb, RunFlags& flags);

/// A recipe, `--run`, required, for a run that may be new, and the machine.
void add_training(CLI::App& verb, TrainingFlags& flags);

/// `--threads`, `--device` and `--slow-bf16`.
void add_machine(CLI::App& verb, MachineFlags& flags);

}  // namespace ballast
