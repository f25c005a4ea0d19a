#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace ballast {

/// The flags of every verb that reads a recipe.
struct RecipeFlags {
  std::filesystem::path recipe;
  std::vector<std::string> overrides;

  void add_to(CLI::App& verb) {
    verb.add_option("RECIPE", recipe, "Recipe file (TOML)")->required();
    add_overrides_to(verb);
  }
  void add_overrides_to(CLI::App& verb) {
    verb.add_option("--set", overrides, "Override an option of the recipe: a.b=value; repeatable")
        ->take_all()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
};

}  // namespace ballast
