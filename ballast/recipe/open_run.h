#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ballast/recipe/assemble.h"
#include "ballast/store/run_directory.h"

namespace ballast {

/// Names inside a run directory.
inline constexpr const char* recipe_file = "recipe.toml";

/// A trained model, ready for use.
struct OpenedRun {
  Recipe recipe;
  Tokenizers tokenizers;
  std::shared_ptr<Transformer> model;
};

/// Which of a run's models: "best" (the last when none was validated), "last", a step number, or
/// the path of a model file.
struct ModelSelection {
  std::string which = "best";

  bool is_file() const { return which.ends_with(".safetensors"); }
};

/// Checks that the run is one of this recipe; throws RecipeError naming every difference that
/// matters. A run without a saved step is free for another recipe: it takes the place of the stored
/// one, whose vocabulary goes where it would be learned in another way.
void adopt_recipe(RunDirectory& directory, const Recipe& recipe);

/// The run's tokenizers; made as the recipe says, and stored together with the recipe, where the
/// run has none yet. Throws RecipeError where a file that the recipe gives holds another vocabulary
/// than the run's.
Tokenizers adopt_tokenizers(RunDirectory& directory, const Recipe& recipe,
                            const Oversight& oversight = {});

/// The names under which a run keeps its vocabularies.
std::vector<std::string> vocabulary_names(const Recipe& recipe);

/// The files of a run that its vocabularies need: they, and what says that they are undamaged.
std::vector<std::string> vocabulary_files_of(const Recipe& recipe);

/// The recipe a run was made with, with overrides (for decode and data.test).
Recipe stored_recipe(const RunDirectory& directory, std::span<const std::string> overrides);

/// Builds a run's model and loads its values. Throws StoreError when the run has none.
OpenedRun open_run(const std::filesystem::path& run, std::span<const std::string> overrides,
                   const ModelSelection& selection);

/// The model file that a selection means.
std::filesystem::path selected_file(const RunDirectory& directory, const ModelSelection& selection);

}  // namespace ballast
