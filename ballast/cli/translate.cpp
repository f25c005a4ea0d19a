#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {
namespace {

void add_models(CLI::App& verb, TranslateFlags& flags) {
  repeatable(verb.add_option("--run", flags.runs,
                             "Directory of the run; again for further runs, whose models vote"))
      ->required();
  repeatable(verb.add_option(
      "--model", flags.models,
      "best, last, a step, or a .safetensors file; again for several models of the run, or for one "
      "of each run (best)"));
  add_overrides(verb, flags.overrides);
}

void add_form(CLI::App& verb, TranslateFlags& flags) {
  static const std::map<std::string, TranslationFormat> formats{{"text", TranslationFormat::text},
                                                                {"moses", TranslationFormat::moses},
                                                                {"json", TranslationFormat::json}};
  verb.add_option("--n-best", flags.n_best, "Hypotheses a line, best first")
      ->check(whole_number(1))
      ->capture_default_str();
  verb.add_option_function<std::string>(
          "--format", [&flags](const std::string& name) { flags.format = formats.at(name); },
          "text; moses: \"number ||| text ||| features ||| score\"; json: an object a line "
          "(text, or moses with --n-best)")
      ->check(CLI::IsMember(formats));
  verb.add_flag("--scores", flags.scores,
                "Write each text behind its score and a tab (moses and json have scores anyway)");
}

}  // namespace

void add_translate(CLI::App& app) {
  auto flags = std::make_shared<TranslateFlags>();
  CLI::App* verb =
      app.add_subcommand("translate", "Translate lines with a trained run, as they come");
  add_models(*verb, *flags);
  verb->add_option("--input", flags->input, "Text to translate (-: standard input)")
      ->capture_default_str();
  verb->add_option("--output", flags->output,
                   "Where to write, while lines come (-: standard output)")
      ->capture_default_str();
  add_form(*verb, *flags);
  add_machine(*verb, flags->machine);
  verb->footer("Example: ballast translate --run runs/first --set decode.beam=8 < in > out");
  verb->callback([flags] { load_verbs().translate(*flags); });
}

}  // namespace ballast
