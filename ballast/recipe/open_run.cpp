#include "ballast/recipe/open_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
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

/// SentencePiece may crash on a damaged model, so one is only read when it is as it was written.
constexpr const char* tokenizer_key_file = "tokenizer.key";

std::string key_text(const std::string& model) { return fmt::format("{:016x}\n", key_of(model)); }

std::shared_ptr<const Tokenizer> stored_tokenizer(const RunDirectory& directory) {
  std::string model = directory.read_text(tokenizer_file);
  if (directory.read_text(tokenizer_key_file) != key_text(model)) {
    throw StoreError(
        fmt::format("{} is damaged: it does not match {}; copy it from a backup of the run",
                    directory.file(tokenizer_file).string(), tokenizer_key_file));
  }
  return std::make_shared<Tokenizer>(Tokenizer::from_model(std::move(model)));
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
    const std::string model = learn_tokenizer(recipe).serialized();
    directory.write_text(tokenizer_key_file, key_text(model));
    directory.write_text(tokenizer_file, model);
  }
  return stored_tokenizer(directory);
}

Recipe stored_recipe(const RunDirectory& directory, std::span<const std::string> overrides) {
  return read_text<Recipe>(directory.read_text(recipe_file), directory.file(recipe_file).string(),
                           overrides)
      .value;
}

std::filesystem::path selected_file(const RunDirectory& directory,
                                    const ModelSelection& selection) {
  if (selection.is_file()) return selection.which;
  return directory.model_file(chosen_step(directory, selection.which));
}

OpenedRun open_run(const std::filesystem::path& run, std::span<const std::string> overrides,
                   const ModelSelection& selection) {
  const RunDirectory directory = RunDirectory::open(run);
  Recipe recipe = stored_recipe(directory, overrides);
  auto tokenizer = stored_tokenizer(directory);
  PreparedModel prepared = build_model(recipe, tokenizer->size());
  const SafeTensors saved = read_safetensors(selected_file(directory, selection));
  load_named_state(*prepared.model, saved.tensors);
  prepared.model->context().precision = recipe.train.precision;
  // A file of its own has no step; it is taken for the end of a training, where every ramp is over.
  prepared.model->context().step = selection.is_file() ? std::numeric_limits<int64_t>::max()
                                                       : chosen_step(directory, selection.which);
  return {std::move(recipe), std::move(tokenizer), std::move(prepared.model)};
}

}  // namespace ballast
