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

/// What can be carried out but is hardly meant.
std::vector<Contradiction> doubts(const Recipe& recipe);

/// Whether the files that a recipe names have to be there: all, all but given vocabularies (of
/// which a run has copies), or none.
enum class TextFiles { needed, needed_but_vocabularies, not_needed };

/// Reads a recipe with its overrides and checks all that can be known before anything is computed.
/// Data paths are relative to the recipe's folder, or to the working directory where no such file
/// lies there; "auto" becomes what it stands for. Throws one error with all mistakes, one a line,
/// with line and column where the file has them: RecipeError, or DataError when they are all of the
/// text files.
Recipe load_recipe(const std::filesystem::path& path, std::span<const std::string> overrides,
                   TextFiles text_files = TextFiles::needed);

/// The options, of those that decide what a run computes, in which two recipes differ, one text
/// each. How long a run goes on, what it reports and how it decodes may change between its parts.
std::vector<std::string> incompatibilities(const Recipe& before, const Recipe& now);

}  // namespace ballast
