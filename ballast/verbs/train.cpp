#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "ballast/recipe/memory.h"
#include "ballast/recipe/resolve.h"
#include "ballast/train/trainer.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/stop_signals.h"
#include "ballast/verbs/test_score.h"
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

void run_training(const TrainingFlags& flags) {
  const StopSignals signals;
  const torch::Device device = set_up_machine(flags.machine);
  const Recipe recipe = recipe_for(flags.recipe, flags.run);
  print_doubts(recipe);
  admit(flags.machine, "train.precision", recipe.train.precision, device);
  admit(flags.machine, "decode.precision", recipe.decode.precision, device);
  const Purpose purpose = device.is_cpu() ? Purpose::training : Purpose::use;
  refuse_too_large(recipe, {}, purpose);
  PreparedRun run = prepared_run(recipe, flags.run, signals.token());
  const VocabularySizes sizes = sizes_of(recipe, *run.data.tokenizers);
  refuse_too_large(recipe, sizes, purpose);
  PlannedModel planned = build_model(recipe, sizes);
  planned.model->to(device);
  if (!run.directory.last_complete_step()) {
    print_profile(calibrate_on(recipe, *planned.model, run.data.train));
  }
  stop_before_training(run.directory, recipe, signals.token());
  const Terminal terminal = isatty(STDOUT_FILENO) ? Terminal::yes : Terminal::no;
  Trainer trainer(training_parts(recipe, planned, run.data), run.directory, std::cout, terminal);
  const TrainingSummary summary = trainer.run(signals.token());
  const std::string text = summary_text(summary);
  if (summary.tokens > 0) run.directory.write_text("summary.txt", text);
  fmt::print("{}", text);
  std::fflush(stdout);
  const bool is_over = summary.ending != Ending::stopped && summary.step > 0;
  if (is_over && !recipe.data.test.empty() && !is_test_scored(run.directory)) {
    score_test(recipe, run.data, *planned.model, run.directory);
  }
  fmt::print("The run lies in {}\n", flags.run.string());
}

}  // namespace

void train(const TrainingFlags& flags) {
  at_boundary(lower_for_training, [&] { run_training(flags); });
}

}  // namespace ballast::verbs
