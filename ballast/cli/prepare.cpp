#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/cli/machine.h"
#include "ballast/cli/prepared.h"
#include "ballast/cli/recipe_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/recipe/resolve.h"

namespace ballast {
namespace {

struct Flags {
  RecipeFlags recipe;
  Machine machine;
  std::filesystem::path run;
};

void prepare(const Flags& flags) {
  flags.machine.prepare();
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  prepared_run(recipe, flags.run);
  fmt::print("prepared in {}\n", flags.run.string());
}

}  // namespace

void add_prepare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "prepare", "Learn a recipe's vocabulary and encode its text, so that train starts at once");
  flags->recipe.add_to(*verb);
  verb->add_option("--run", flags->run, "Directory of the run; made when there is none")
      ->required();
  flags->machine.add_to(*verb);
  verb->callback([flags] { prepare(*flags); });
}

}  // namespace ballast
