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
  verb->add_flag(
      "--rehearse", flags->rehearse,
      "Make the first updates, with the warmup in fewer steps, and see what the loss does");
  verb->add_flag("--trial", flags->trial,
                 "Rehearse, and try every remedy of a warning or error in the same way: those that "
                 "help are said to");
  verb->add_option("--updates", flags->updates, "Updates of a rehearsal")
      ->check(CLI::Range(int64_t{10}, int64_t{100000}))
      ->capture_default_str();
  verb->add_flag("--json", flags->json, "One object: verdict, findings, every measurement");
  verb->add_flag("--all", flags->all, "Every measurement after the findings");
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().doctor(*flags); });
}

}  // namespace ballast
