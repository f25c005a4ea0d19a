#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App* verb = app.add_subcommand("evaluate", "Loss and perplexity of a run's model on text");
  add_run(*verb, flags->run);
  verb->add_option("FILES", flags->files, "Text; absent: the recipe's data.test, else data.valid");
  verb->add_flag("--json", flags->json, "One object");
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().evaluate(*flags); });
}

}  // namespace ballast
