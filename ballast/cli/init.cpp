#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_init(CLI::App& app) {
  auto flags = std::make_shared<InitFlags>();
  CLI::App* verb = app.add_subcommand(
      "init", "Initialise and calibrate a recipe's model and show what one forward pass measures");
  add_recipe(*verb, flags->recipe);
  verb->add_flag("--json", flags->json,
                 "One object: omega by stack, the profile, and every parameter's scaling");
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().init(*flags); });
}

}  // namespace ballast
