#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {

void add_translate(CLI::App& app) {
  auto flags = std::make_shared<TranslateFlags>();
  CLI::App* verb = app.add_subcommand("translate", "Translate lines with a trained run");
  add_run(*verb, flags->run);
  verb->add_option("--input", flags->input, "Text to translate (-: standard input)")
      ->capture_default_str();
  verb->add_option("--output", flags->output, "Where to write (-: standard output)")
      ->capture_default_str();
  verb->add_option("--n-best", flags->n_best, "Hypotheses a line, as \"number ||| text ||| score\"")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_machine(*verb, flags->machine);
  verb->footer("Example: ballast translate --run runs/first --set decode.beam=8 < in > out");
  verb->callback([flags] { load_verbs().translate(*flags); });
}

}  // namespace ballast
