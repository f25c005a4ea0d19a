#pragma once

#include <string>
#include <vector>

#include "ballast/verbs/flags.h"

namespace CLI {
class App;
}

namespace ballast {

// Flags that several verbs take.

/// `--set a.b=value`, once for each override.
void add_overrides(CLI::App& verb, std::vector<std::string>& overrides);

/// A recipe file, required, and its overrides.
void add_recipe(CLI::App& verb, RecipeFlags& flags);

/// `--run`, required, `--model` and overrides.
void add_run(CLI::App& verb, RunFlags& flags);

/// `--threads`, `--device` and `--slow-bf16`.
void add_machine(CLI::App& verb, MachineFlags& flags);

}  // namespace ballast
