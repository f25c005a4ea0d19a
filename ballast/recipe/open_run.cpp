#include "ballast/recipe/open_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/recipe/load.h"
#include "ballast/recipe/resolve.h"
#include "ballast/recipe/schema.h"
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

/// Where a run keeps a vocabulary, and the key that says whether it is as it was written:
/// SentencePiece may crash on a damaged model.
struct StoredNames {
  std::string vocabulary, key;
};

StoredNames names_of(const Recipe& recipe, Side side) {
  constexpr const char* owners[] = {"", "source.", "target."};
  const std::string name = fmt::format("{}tokenizer", owners[static_cast<int>(side)]);
  const bool words = std::holds_alternative<WordFile>(tokenizer_choice(recipe.data, side));
  return {name + (words ? ".txt" : ".model"), name + ".key"};
}

std::string key_text(const std::string& model) { return fmt::format("{:016x}\n", key_of(model)); }

Tokenizer tokenizer_from(std::string bytes, const StoredNames& names) {
  if (!names.vocabulary.ends_with(".txt")) return Tokenizer::from_model(std::move(bytes));
  std::vector<std::string> lines;
  for (size_t at = 0, end = 0; (end = bytes.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(bytes.substr(at, end - at));
  }
  return Tokenizer::from_words(lines, names.vocabulary);
}

Tokenizer stored_tokenizer(const RunDirectory& directory, const StoredNames& names) {
  std::string bytes = directory.read_text(names.vocabulary);
  if (directory.read_text(names.key) != key_text(bytes)) {
    throw StoreError(
        fmt::format("{} is damaged: it does not match {}; copy it from a backup of the run",
                    directory.file(names.vocabulary).string(), names.key));
  }
  return tokenizer_from(std::move(bytes), names);
}

/// The file that a recipe gives for a vocabulary; empty for one that is learned.
std::string given_file(const TokenizerChoice& choice) {
  const Overloaded file{[](const SentencePieceFile& given) { return given.file; },
                        [](const WordFile& given) { return given.file; },
                        [](const auto&) { return std::string(); }};
  return std::visit(file, choice);
}

/// A run has a copy of its own, so the file may be gone; but it must not have become another.
void check_same(const RunDirectory& directory, const Tokenizer& kept, const Recipe& recipe,
                Side side) {
  const std::string file = given_file(tokenizer_choice(recipe.data, side));
  if (file.empty() || !std::filesystem::exists(file)) return;
  if (make_tokenizer(recipe, side).serialized() == kept.serialized()) return;
  throw RecipeError(
      fmt::format("{}: is another vocabulary than the one {} was made with; give that one, or "
                  "choose another --run directory",
                  file, directory.path().string()));
}

Tokenizer adopt_tokenizer(RunDirectory& directory, const Recipe& recipe, Side side,
                          const Oversight& oversight) {
  const StoredNames names = names_of(recipe, side);
  if (std::filesystem::exists(directory.file(names.vocabulary))) {
    Tokenizer kept = stored_tokenizer(directory, names);
    check_same(directory, kept, recipe, side);
    return kept;
  }
  Tokenizer made = make_tokenizer(recipe, side, oversight);
  directory.write_text(names.key, key_text(made.serialized()));
  directory.write_text(names.vocabulary, made.serialized());
  return made;
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

Tokenizers adopt_tokenizers(RunDirectory& directory, const Recipe& recipe,
                            const Oversight& oversight) {
  return tokenizers_by(
      recipe.data, [&](Side side) { return adopt_tokenizer(directory, recipe, side, oversight); });
}

std::vector<std::string> vocabulary_names(const Recipe& recipe) {
  if (!recipe.data.target_tokenizer) return {names_of(recipe, Side::both).vocabulary};
  return {names_of(recipe, Side::source).vocabulary, names_of(recipe, Side::target).vocabulary};
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
  Tokenizers tokenizers = tokenizers_by(
      recipe.data, [&](Side side) { return stored_tokenizer(directory, names_of(recipe, side)); });
  PreparedModel prepared = build_model(recipe, sizes_of(tokenizers));
  const SafeTensors saved = read_safetensors(selected_file(directory, selection));
  load_named_state(*prepared.model, saved.tensors);
  prepared.model->context().precision = recipe.train.precision;
  // A file of its own has no step; it is taken for the end of a training, where every ramp is over.
  prepared.model->context().step = selection.is_file() ? std::numeric_limits<int64_t>::max()
                                                       : chosen_step(directory, selection.which);
  return {std::move(recipe), std::move(tokenizers), std::move(prepared.model)};
}

}  // namespace ballast
