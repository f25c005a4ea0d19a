#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_prepare(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* verb = app.add_subcommand(
      "prepare", "Learn a recipe's vocabulary and encode its text, so that train starts at once");
  add_training(*verb, *flags);
  verb->callback([flags] { load_verbs().prepare(*flags); });
}

}  // namespace ballast
