#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/base/error.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/recipe/reference.h"
#include "ballast/recipe/resolve.h"
#include "ballast/recipe/writer.h"

namespace ballast {
namespace {

struct Flags {
  std::vector<std::filesystem::path> recipes;
  std::vector<std::string> overrides;
  bool resolved = false, reference = false;
};

void check(const Flags& flags) {
  if (flags.recipes.empty() && !flags.reference) {
    throw RecipeError("check-recipe needs a recipe file, or --reference");
  }
  if (flags.reference) fmt::print("{}", reference_page<Recipe>());
  for (const auto& path : flags.recipes) {
    const Recipe recipe = load_recipe(path, flags.overrides);
    if (flags.resolved) {
      fmt::print("{}", toml_text(recipe));
    } else {
      fmt::print("{}: ok\n", path.string());
    }
  }
}

}  // namespace

void add_check_recipe(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb =
      app.add_subcommand("check-recipe", "Report every mistake of a recipe, or show it resolved");
  verb->add_option("RECIPE", flags->recipes, "Recipe files (TOML)");
  add_overrides(*verb, flags->overrides);
  verb->add_flag("--resolved", flags->resolved, "Print the recipe with every default written out");
  verb->add_flag("--reference", flags->reference, "Print the reference page of all options");
  verb->callback([flags] { check(*flags); });
}

}  // namespace ballast
