#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_average(CLI::App& app) {
  auto flags = std::make_shared<AverageFlags>();
  CLI::App* verb = app.add_subcommand("average", "Average the last checkpoints of a run");
  verb->add_option("--run", flags->run, "Directory of the run")->required();
  verb->add_option("--last", flags->last, "How many checkpoints (train.keep decides what is there)")
      ->check(whole_number(1))
      ->capture_default_str();
  verb->add_option("--output", flags->output, "File to write (RUN/averaged.safetensors)");
  verb->footer("Then: ballast translate --run RUN --model RUN/averaged.safetensors");
  verb->callback([flags] { load_verbs().average(*flags); });
}

}  // namespace ballast
