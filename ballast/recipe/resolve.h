#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ballast/model/contradictions.h"
#include "ballast/recipe/recipe.h"

namespace ballast {

/// Every contradiction across the fields of a recipe, those within its model first.
std::vector<Contradiction> contradictions(const Recipe& recipe);

/// Reads a recipe with its overrides and checks it. Data paths are relative to the recipe's folder,
/// or to the working directory where no such file lies there; "auto" becomes what it stands for.
/// Throws one RecipeError with all
/// mistakes, one a line, with line and column where the file has them.
Recipe load_recipe(const std::filesystem::path& path, std::span<const std::string> overrides);

/// The options, of those that decide what a run computes, in which two recipes differ, one text
/// each. How long a run goes on, what it reports and how it decodes may change between its parts.
std::vector<std::string> incompatibilities(const Recipe& before, const Recipe& now);

}  // namespace ballast
