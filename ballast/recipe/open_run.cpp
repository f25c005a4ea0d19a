#include "ballast/recipe/open_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "ballast/base/error.h"
#include "ballast/recipe/load.h"
#include "ballast/recipe/resolve.h"
#include "ballast/recipe/writer.h"
#include "ballast/store/safetensors.h"
#include "ballast/train/checkpoint.h"

namespace ballast {
namespace {

int64_t chosen_step(const RunDirectory& directory, const std::string& which) {
  if (which == "best") {
    if (const auto best = directory.best()) return best->step;
  }
  int64_t step = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), step);
  if (error == std::errc() && end == which.data() + which.size()) return step;
  const auto last = directory.last_complete_step();
  if (!last) {
    throw StoreError(fmt::format("{}: this run has no saved step yet; train it first",
                                 directory.path().string()));
  }
  return *last;
}

}  // namespace

void adopt_recipe(RunDirectory& directory, const Recipe& recipe) {
  if (!std::filesystem::exists(directory.file(recipe_file))) {
    directory.write_text(recipe_file, toml_text(recipe));
    return;
  }
  const auto differences = incompatibilities(stored_recipe(directory, {}), recipe);
  if (!differences.empty()) {
    throw RecipeError(fmt::format(
        "{} is the run of another recipe: {}; choose another --run directory or the recipe it was "
        "made with",
        directory.path().string(), fmt::join(differences, ", ")));
  }
}

std::shared_ptr<const Tokenizer> adopt_tokenizer(RunDirectory& directory, const Recipe& recipe) {
  if (!std::filesystem::exists(directory.file(tokenizer_file))) {
    directory.write_text(tokenizer_file, learn_tokenizer(recipe).serialized());
  }
  return std::make_shared<Tokenizer>(Tokenizer::from_model(directory.read_text(tokenizer_file)));
}

Recipe stored_recipe(const RunDirectory& directory, std::span<const std::string> overrides) {
  return read_text<Recipe>(directory.read_text(recipe_file), directory.file(recipe_file).string(),
                           overrides)
      .value;
}

std::filesystem::path selected_file(const RunDirectory& directory,
                                    const ModelSelection& selection) {
  if (selection.which.ends_with(".safetensors")) return selection.which;
  return directory.model_file(chosen_step(directory, selection.which));
}

OpenedRun open_run(const std::filesystem::path& run, std::span<const std::string> overrides,
                   const ModelSelection& selection) {
  const RunDirectory directory = RunDirectory::open(run);
  Recipe recipe = stored_recipe(directory, overrides);
  auto tokenizer =
      std::make_shared<Tokenizer>(Tokenizer::from_model(directory.read_text(tokenizer_file)));
  PreparedModel prepared = build_model(recipe, tokenizer->size());
  const SafeTensors saved = read_safetensors(selected_file(directory, selection));
  load_named_state(*prepared.model, saved.tensors);
  prepared.model->context().step = recipe.train.steps;
  return {std::move(recipe), std::move(tokenizer), std::move(prepared.model)};
}

}  // namespace ballast
