#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_train(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* verb = app.add_subcommand(
      "train", "Train a recipe; run again to go on where it stopped, bit for bit");
  add_training(*verb, *flags);
  verb->footer(
      "Example: ballast train recipes/quickstart.toml --run runs/first --set train.steps=200");
  verb->callback([flags] { load_verbs().train(*flags); });
}

}  // namespace ballast
