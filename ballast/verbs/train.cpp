#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "ballast/recipe/resolve.h"
#include "ballast/train/trainer.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/stop_signals.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

std::string summary_text(const TrainingSummary& summary) {
  constexpr const char* endings[] = {"finished", "stopped as asked", "no improvement any more"};
  std::string text =
      fmt::format("{} at step {} after {}", endings[static_cast<int>(summary.ending)], summary.step,
                  human_duration(summary.seconds));
  if (summary.tokens > 0) {
    text += fmt::format(", {} target tokens/s",
                        human_count(static_cast<double>(summary.tokens) / summary.seconds));
  }
  return text + fmt::format(", peak memory {}B\n", human_count(static_cast<double>(peak_memory())));
}

}  // namespace

void train(const TrainFlags& flags) {
  const StopSignals signals;
  const torch::Device device = prepare_machine(flags.machine);
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  admit(flags.machine, "train.precision", recipe.train.precision, device);
  admit(flags.machine, "decode.precision", recipe.decode.precision, device);
  PreparedRun run = prepared_run(recipe, flags.run, signals.token());
  PreparedModel prepared = build_model(recipe, sizes_of(*run.data.tokenizers));
  prepared.model->to(device);
  if (!run.directory.last_complete_step()) {
    print_profile(calibrate_on(recipe, *prepared.model, run.data.train));
  }
  stop_before_training(run.directory, recipe, signals.token());
  const Terminal terminal = isatty(STDOUT_FILENO) ? Terminal::yes : Terminal::no;
  Trainer trainer(training_parts(recipe, prepared, run.data), run.directory, std::cout, terminal);
  const TrainingSummary summary = trainer.run(signals.token());
  const std::string text = summary_text(summary);
  if (summary.tokens > 0) run.directory.write_text("summary.txt", text);
  fmt::print("{}The run lies in {}\n", text, flags.run.string());
}

}  // namespace ballast::verbs
