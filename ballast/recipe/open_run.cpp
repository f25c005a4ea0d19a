#include "ballast/recipe/open_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "ballast/base/error.h"
#include "ballast/base/number.h"
#include "ballast/base/philox.h"
#include "ballast/base/suggest.h"
#include "ballast/options/load.h"
#include "ballast/options/schema.h"
#include "ballast/options/writer.h"
#include "ballast/recipe/resolve.h"
#include "ballast/store/safetensors.h"
#include "ballast/train/checkpoint.h"

namespace ballast {
namespace {

std::string saved_steps(const std::vector<int64_t>& steps) {
  return steps.empty() ? "none is saved yet" : fmt::format("{}", fmt::join(steps, ", "));
}

int64_t chosen_step(const RunDirectory& directory, const std::string& which) {
  const std::vector<int64_t> steps = directory.steps();
  auto step = number_in<int64_t>(which);
  if (step && *step < 0) step.reset();
  if (!step && which != "best" && which != "last") {
    const std::string near = closest(which, std::vector<std::string>{"best", "last"});
    throw RecipeError(fmt::format(
        "--model {}: expected best, last, a saved step ({}), or the path of a .safetensors file{}",
        which, saved_steps(steps), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  if (steps.empty()) {
    throw StoreError(fmt::format("{}: this run has no saved step yet; train it first",
                                 directory.path().string()));
  }
  if (step && !std::ranges::binary_search(steps, *step)) {
    throw StoreError(fmt::format("{}: has no step {}; it has {}", directory.path().string(), *step,
                                 saved_steps(steps)));
  }
  if (step) return *step;
  const auto best = which == "best" ? directory.best() : std::nullopt;
  return best ? best->step : steps.back();
}

/// Where a run keeps a vocabulary, and the key that says whether it is as it was written:
/// SentencePiece may crash on a damaged model.
struct StoredNames {
  std::string vocabulary, key;
};

StoredNames names_of(const Recipe& recipe, Side side) {
  constexpr const char* owners[] = {"", "source.", "target."};
  const std::string name = fmt::format("{}tokenizer", owners[static_cast<int>(side)]);
  const std::string_view suffix = std::visit([](const auto& given) { return given.kept_as; },
                                             tokenizer_choice(recipe.data, side));
  return {fmt::format("{}{}", name, suffix), name + ".key"};
}

/// Those that have a vocabulary of their own.
std::vector<Side> sides_of(const Recipe& recipe) {
  if (!recipe.data.target_tokenizer) return {Side::both};
  return {Side::source, Side::target};
}

std::string key_text(const std::string& model) { return fmt::format("{:016x}\n", key_of(model)); }

Tokenizer tokenizer_from(std::string bytes, const StoredNames& names) {
  if (names.vocabulary.ends_with(Bpe::kept_as)) return Tokenizer::from_model(std::move(bytes));
  if (names.vocabulary.ends_with(Bytes::kept_as)) {
    return Tokenizer::from_json(std::move(bytes), names.vocabulary);
  }
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
  const auto file = [](const auto& given) {
    if constexpr (requires { given.file; }) return given.file;
    return std::string();
  };
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
  // A vocabulary is the first thing that binds the directory to this recipe.
  if (!std::filesystem::exists(directory.file(recipe_file))) {
    directory.write_text(recipe_file, toml_text(recipe));
  }
  directory.write_text(names.key, key_text(made.serialized()));
  directory.write_text(names.vocabulary, made.serialized());
  return made;
}

/// Whether two recipes give the same vocabulary, as far as their words tell.
bool learns_alike(const Recipe& one, const Recipe& other) {
  return one.data.train == other.data.train && one.data.tokenizer == other.data.tokenizer &&
         one.data.target_tokenizer == other.data.target_tokenizer;
}

}  // namespace

void adopt_recipe(RunDirectory& directory, const Recipe& recipe) {
  if (!std::filesystem::exists(directory.file(recipe_file))) return;
  const Recipe before = stored_recipe(directory, {});
  const auto differences = incompatibilities(before, recipe);
  if (directory.steps().empty()) {
    // Nothing was trained yet, so the directory is free for another recipe.
    if (!learns_alike(before, recipe)) {
      for (const std::string& name : vocabulary_names(before)) directory.remove_text(name);
    }
    if (before != recipe) directory.write_text(recipe_file, toml_text(recipe));
  } else if (!differences.empty()) {
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
  std::vector<std::string> names;
  for (const Side side : sides_of(recipe)) names.push_back(names_of(recipe, side).vocabulary);
  return names;
}

std::vector<std::string> vocabulary_files_of(const Recipe& recipe) {
  std::vector<std::string> files;
  for (const Side side : sides_of(recipe)) {
    const StoredNames names = names_of(recipe, side);
    files.insert(files.end(), {names.key, names.vocabulary});
  }
  return files;
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
  const std::filesystem::path file = selected_file(directory, selection);
  if (const auto found = contradictions(recipe.model); !found.empty()) {
    throw RecipeError(
        fmt::format("{}: {}", directory.file(recipe_file).string(), found.front().text));
  }
  Tokenizers tokenizers = tokenizers_by(
      recipe.data, [&](Side side) { return stored_tokenizer(directory, names_of(recipe, side)); });
  const std::shared_ptr<Transformer> model =
      build_empty_model(recipe, sizes_of(recipe, tokenizers)).model;
  const SafeTensors saved = read_safetensors(file);
  load_named_state(*model, saved.tensors);
  model->context().precision = recipe.train.precision;
  // A file that says no step is taken for the end of a training, where every ramp is over.
  model->context().step = selection.is_file()
                              ? step_of(saved, file).value_or(std::numeric_limits<int64_t>::max())
                              : chosen_step(directory, selection.which);
  return {std::move(recipe), std::move(tokenizers), model};
}

}  // namespace ballast
