#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "ballast/cli/machine.h"
#include "ballast/cli/prepared.h"
#include "ballast/cli/recipe_flags.h"
#include "ballast/cli/stop_signals.h"
#include "ballast/cli/verbs.h"
#include "ballast/recipe/resolve.h"
#include "ballast/train/trainer.h"

namespace ballast {
namespace {

struct Flags {
  RecipeFlags recipe;
  Machine machine;
  std::filesystem::path run;
};

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

void train(const Flags& flags) {
  const StopSignals signals;
  const torch::Device device = flags.machine.prepare();
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  flags.machine.admit("train.precision", recipe.train.precision, device);
  flags.machine.admit("decode.precision", recipe.decode.precision, device);
  PreparedRun run = prepared_run(recipe, flags.run);
  PreparedModel prepared = build_model(recipe, run.data.tokenizer->size());
  prepared.model->to(device);
  if (!run.directory.last_complete_step()) {
    print_profile(calibrate_on(recipe, *prepared.model, run.data.train));
  }
  const Terminal terminal = isatty(STDOUT_FILENO) ? Terminal::yes : Terminal::no;
  Trainer trainer(training_parts(recipe, prepared, run.data), run.directory, std::cout, terminal);
  const TrainingSummary summary = trainer.run(signals.token());
  const std::string text = summary_text(summary);
  if (summary.tokens > 0) run.directory.write_text("summary.txt", text);
  fmt::print("{}The run lies in {}\n", text, flags.run.string());
}

}  // namespace

void add_train(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "train", "Train a recipe; run again to go on where it stopped, bit for bit");
  flags->recipe.add_to(*verb);
  verb->add_option("--run", flags->run, "Directory of the run; made when there is none")
      ->required();
  flags->machine.add_to(*verb);
  verb->footer(
      "Example: ballast train recipes/quickstart.toml --run runs/first --set train.steps=200");
  verb->callback([flags] { train(*flags); });
}

}  // namespace ballast
