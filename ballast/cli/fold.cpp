#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_fold(CLI::App& app) {
  auto flags = std::make_shared<FoldFlags>();
  CLI::App* verb = app.add_subcommand(
      "fold", "Turn a trained model into a plain Post-Norm or Pre-Norm one with the same outputs");
  verb->add_option("RUN", flags->run.run, "Directory of the run")->required();
  verb->add_option("OUT", flags->output, "Directory for the folded run; made, or empty")
      ->required();
  verb->add_option("--model", flags->run.model,
                   "best, last, the number of a saved step, or a model file")
      ->capture_default_str();
  add_overrides(*verb, flags->run.overrides);
  verb->footer(
      "Coefficients of the residual connections, factors, forms of the weights and the\n"
      "parameterisation go into weights, norms and tables. OUT decodes and evaluates like RUN.\n"
      "Example: ballast fold runs/first runs/first-folded");
  verb->callback([flags] { load_verbs().fold(*flags); });
}

}  // namespace ballast
