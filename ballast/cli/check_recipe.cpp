#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/base/error.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/options/reference.h"
#include "ballast/options/writer.h"
#include "ballast/recipe/resolve.h"
#include "ballast/values/foldable.h"

namespace ballast {
namespace {

struct Flags {
  std::vector<std::filesystem::path> recipes;
  std::vector<std::string> overrides;
  bool resolved = false, reference = false, without_files = false;
};

void show(const Flags& flags, const std::filesystem::path& path) {
  const auto files = flags.without_files ? TextFiles::not_needed : TextFiles::needed;
  const Recipe recipe = load_recipe(path, flags.overrides, files);
  if (flags.resolved) return fmt::print("{}", toml_text(recipe));
  fmt::print("{}: ok\n", path.string());
  for (const Contradiction& each : doubts(recipe)) {
    fmt::print("{}: note: {}\n", path.string(), each.text);
  }
  if (const std::string reason = refusal_to_fold(recipe.model); !reason.empty()) {
    fmt::print("{}: note: the model cannot be folded into a plain one: {}\n", path.string(),
               reason);
  }
}

/// Goes on to the next recipe after one with mistakes; those of all are one error.
void check(const Flags& flags) {
  if (flags.recipes.empty() && !flags.reference) {
    throw RecipeError("check-recipe needs a recipe file, or --reference");
  }
  if (flags.reference) fmt::print("{}", reference_page<Recipe>());
  std::vector<std::string> mistakes;
  bool only_data = true;
  for (const auto& path : flags.recipes) {
    try {
      show(flags, path);
    } catch (const DataError& error) {
      mistakes.emplace_back(error.what());
    } catch (const RecipeError& error) {
      mistakes.emplace_back(error.what());
      only_data = false;
    }
  }
  if (mistakes.empty()) return;
  const std::string text = fmt::format("{}", fmt::join(mistakes, "\n"));
  if (only_data) throw DataError(text);
  throw RecipeError(text);
}

}  // namespace

void add_check_recipe(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb =
      app.add_subcommand("check-recipe", "Report every mistake of a recipe, or show it resolved");
  verb->add_option("RECIPE", flags->recipes, "Recipe files (TOML)");
  add_overrides(*verb, flags->overrides);
  verb->add_flag("--resolved", flags->resolved, "Print the recipe with every default written out");
  verb->add_flag("--without-files", flags->without_files,
                 "Do not ask whether the text files are there");
  verb->add_flag("--reference", flags->reference, "Print the reference page of all options");
  verb->callback([flags] { check(*flags); });
}

}  // namespace ballast
