#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_doctor(CLI::App& app) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* verb = app.add_subcommand(
      "doctor",
      "Say before training whether a recipe will train, why not, and what cures it: each cause "
      "with "
      "a measured number beside what it should be. Exit code 5 where it will diverge");
  add_recipe(*verb, flags->recipe);
  verb->add_flag("--json", flags->json, "One object: verdict, findings, every measurement");
  verb->add_flag("--all", flags->all, "Every measurement after the findings");
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().doctor(*flags); });
}

}  // namespace ballast
