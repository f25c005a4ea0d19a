#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App* verb = app.add_subcommand(
      "evaluate", "Loss and perplexity of a run's model on text, or scores of continuations");
  add_run(*verb, flags->run);
  verb->add_option("FILES", flags->files, "Text; absent: the recipe's data.test, else data.valid");
  verb->add_flag("--json", flags->json, "One object");
  verb->add_option("--context", flags->context,
                   "Tokens a language model reads at once (absent: data.context)")
      ->check(whole_number(1));
  verb->add_option("--stride", flags->stride,
                   "Tokens from one window's begin to the next (absent: the context)")
      ->check(whole_number(1));
  verb->add_option("--continuations", flags->continuations,
                   "JSON lines of a context and one or several continuations, whose "
                   "log-likelihoods a language model gives");
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().evaluate(*flags); });
}

}  // namespace ballast
