#include "ballast/recipe/resolve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "ballast/base/error.h"
#include "ballast/decode/contradictions.h"
#include "ballast/options/differences.h"
#include "ballast/options/load.h"
#include "ballast/recipe/files.h"

namespace ballast {
namespace {

/// What may differ between the parts of one run: how long it goes on, what it reports, how it
/// decodes, and where its files lie (that the text is the same is checked by the text itself).
constexpr std::string_view free_options[] = {"train.steps",
                                             "train.log_every",
                                             "train.instruments_every",
                                             "train.validate_every",
                                             "train.bleu_sentences",
                                             "train.keep",
                                             "train.patience",
                                             "train.checkpoint_every",
                                             "train.recompute",
                                             "data.train",
                                             "data.valid",
                                             "data.test",
                                             "data.tokenizer.file",
                                             "data.target_tokenizer.file",
                                             "decode.",
                                             "generate."};

bool is_free(std::string_view option) {
  for (const std::string_view free : free_options) {
    if (option == free || (free.ends_with('.') && option.starts_with(free))) return true;
  }
  return false;
}

void check_files(const Recipe& recipe, std::vector<Contradiction>& found) {
  const auto check = [&](const std::string& name, const std::vector<std::string>& files) {
    if (recipe.model.shape().has_source && files.size() % 2 != 0) {
      found.push_back({name, fmt::format("{} lists {} files; a seq2seq model needs pairs: source, "
                                         "target, source, target, ...",
                                         name, files.size())});
    }
  };
  if (recipe.data.train.empty()) {
    found.push_back({"data.train", "data.train lists no file; name the training text"});
  }
  check("data.train", recipe.data.train);
  check("data.valid", recipe.data.valid);
  check("data.test", recipe.data.test);
}

/// The option that limits the tokens of a sequence, and the limit.
std::pair<std::string, int64_t> longest_sequence(const Recipe& recipe) {
  if (!recipe.model.shape().has_source) return {"data.context", recipe.data.context};
  return {"data.length.max_length", recipe.data.length.max_length};
}

void check_batches(const Recipe& recipe, std::vector<Contradiction>& found) {
  const auto [option, longest] = longest_sequence(recipe);
  if (longest <= recipe.train.batch_tokens) return;
  found.push_back({option, fmt::format("{} = {} exceeds train.batch_tokens = {}; no batch could "
                                       "hold such a sequence",
                                       option, longest, recipe.train.batch_tokens)});
}

/// How the text of a language model is cut and mixed.
void check_documents(const Recipe& recipe, std::vector<Contradiction>& found) {
  const DataOptions& data = recipe.data;
  if (!data.cross_documents && data.context < 2) {
    found.push_back({"data.context",
                     "data.context = 1 leaves no token of a document to attend to; expected at "
                     "least 2 with data.cross_documents = false"});
  }
  if (data.mixture.empty()) return;
  const bool has_source = recipe.model.shape().has_source;
  if (has_source || data.mixture.size() != data.train.size()) {
    found.push_back(
        {"data.mixture",
         has_source
             ? std::string("data.mixture is for language models; give a file of a pair more "
                           "than once to have it more often")
             : fmt::format("data.mixture has {} weights for {} files of data.train; expected "
                           "one for each",
                           data.mixture.size(), data.train.size())});
  }
  for (const double weight : data.mixture) {
    if (weight > 0 && std::isfinite(weight)) continue;
    found.push_back({"data.mixture", fmt::format("data.mixture has the weight {}; expected numbers "
                                                 "above 0",
                                                 weight)});
    return;
  }
}

/// Sizes with which the arithmetic of places and indices would leave its 32 or 64 bits. What is too
/// large for the memory alone is told by `refuse_too_large`.
void check_sizes(const Recipe& recipe, std::vector<Contradiction>& found) {
  constexpr int64_t most_blocks = 10'000, most_places = std::numeric_limits<int32_t>::max();
  const std::tuple<const char*, int64_t, int64_t> sizes[] = {
      {"model.encoder_layers", recipe.model.encoder_layers, most_blocks},
      {"model.decoder_layers", recipe.model.decoder_layers, most_blocks},
      {"model.positions.first", form_of(recipe.model.positions).first, most_places},
      {"data.context", recipe.data.context, most_places},
      {"data.length.max_length", recipe.data.length.max_length, most_places},
      {"train.batch_tokens", recipe.train.batch_tokens, most_places},
      {"decode.batch_tokens", recipe.decode.batch_tokens, most_places}};
  for (const auto& [option, value, most] : sizes) {
    if (value <= most) continue;
    found.push_back({option, fmt::format("{} = {}, expected at most {}", option, value, most)});
  }
}

/// A table of positions needs as many rows as a sequence may have tokens.
void check_positions(const Recipe& recipe, std::vector<Contradiction>& found) {
  const PositionForm form = form_of(recipe.model.positions);
  const auto [option, longest] = longest_sequence(recipe);
  if (form.added != AddedPositions::table || longest <= form.table_length) return;
  found.push_back({"model.positions.max_length",
                   fmt::format("model.positions.max_length = {} is less than {} = {}; a longer "
                               "sentence would have no position",
                               form.table_length, option, longest)});
}

void check_schedule(const Recipe& recipe, std::vector<Contradiction>& found) {
  for (const auto& [option, text] : schedule_problems(recipe.schedule, recipe.train.steps)) {
    found.push_back({"schedule." + option, text});
  }
}

void check_optimizer(const Recipe& recipe, std::vector<Contradiction>& found) {
  for (const auto& [option, text] : optimizer_problems(recipe.optimizer, recipe.schedule)) {
    found.push_back({"optimizer." + option, text});
  }
}

/// Feed-forward layers of a shape that the initialisation cannot fill.
void check_init(const Recipe& recipe, std::vector<Contradiction>& found) {
  const ModelOptions& model = recipe.model;
  const int64_t arguments = form_of(model.activation).arguments();
  const ParameterFacts in{.role = Role::feed_forward_in,
                          .fan_in = model.d_model,
                          .fan_out = model.d_ff,
                          .stacked = arguments};
  const ParameterFacts out{
      .role = Role::feed_forward_out, .fan_in = model.d_ff, .fan_out = model.d_model};
  for (const ParameterFacts& facts : {in, out}) {
    const std::optional<Draw> draw = draw_of(recipe.init, facts);
    const std::string why =
        draw ? refusal_of(*draw, facts.stacked * facts.fan_out, facts.fan_in) : std::string();
    if (why.empty()) continue;
    found.push_back({"model.d_ff", fmt::format("init.kind = {} and model.d_ff = {}: {}",
                                               info_of(recipe.init).name, model.d_ff, why)});
    return;
  }
}

void check_patience(const Recipe& recipe, std::vector<Contradiction>& found) {
  if (recipe.train.patience == 0) return;
  if (recipe.train.validate_every == 0) {
    found.push_back({"train.patience",
                     "train.patience counts validations, but train.validate_every = 0 makes none"});
  }
  if (recipe.data.valid.empty()) {
    found.push_back({"train.patience",
                     "train.patience counts validations, but data.valid names no text for them"});
  }
}

void check_masking(const Recipe& recipe, std::vector<Contradiction>& found) {
  if (!recipe.model.shape().predicts_masked()) return;
  const std::string refusal = refusal_of(recipe.data.masking);
  if (!refusal.empty()) found.push_back({"data.masking", refusal});
}

std::string located(const std::string& file, const std::filesystem::path& folder) {
  if (file.empty()) return file;
  const std::filesystem::path beside = folder / file;
  const bool is_beside = std::filesystem::exists(beside);
  return std::filesystem::absolute(is_beside ? beside : std::filesystem::path(file))
      .lexically_normal()
      .string();
}

}  // namespace

std::vector<Contradiction> contradictions(const Recipe& recipe) {
  std::vector<Contradiction> found = contradictions(recipe.model);
  for (Contradiction& each : contradictions(recipe.decode)) found.push_back(std::move(each));
  for (Contradiction& each : contradictions(recipe.generate)) found.push_back(std::move(each));
  check_sizes(recipe, found);
  check_batches(recipe, found);
  check_documents(recipe, found);
  check_positions(recipe, found);
  check_schedule(recipe, found);
  check_optimizer(recipe, found);
  check_init(recipe, found);
  check_patience(recipe, found);
  check_masking(recipe, found);
  check_files(recipe, found);
  for (Contradiction& each : vocabulary_contradictions(recipe)) found.push_back(std::move(each));
  return found;
}

std::vector<Contradiction> doubts(const Recipe& recipe) {
  const int64_t warmup =
      std::visit([](const auto& options) { return options.warmup; }, recipe.schedule);
  if (warmup <= recipe.train.steps || recipe.train.steps == 0) return {};
  return {{"schedule.warmup",
           fmt::format("schedule.warmup = {} is more than train.steps = {}; the learning rate does "
                       "not reach its peak",
                       warmup, recipe.train.steps)}};
}

Recipe load_recipe(const std::filesystem::path& path, std::span<const std::string> overrides,
                   TextFiles text_files) {
  const Loaded<Recipe> loaded = load<Recipe>(path, overrides);
  Recipe recipe = loaded.value;
  for (auto* files : {&recipe.data.train, &recipe.data.valid, &recipe.data.test}) {
    for (std::string& file : *files) file = located(file, path.parent_path());
  }
  for (std::string* file : vocabulary_files(recipe.data)) {
    *file = located(*file, path.parent_path());
  }
  std::vector<Problem> problems;
  const auto add = [&](const std::vector<Contradiction>& found) {
    for (const auto& each : found) problems.push_back({loaded.places.of(each.option), each.text});
  };
  add(contradictions(recipe));
  const bool is_sound = problems.empty();
  if (text_files != TextFiles::not_needed) add(text_file_problems(recipe));
  if (text_files == TextFiles::needed) add(vocabulary_file_problems(recipe));
  recipe.model.share_embeddings =
      resolved(recipe.model.share_embeddings, !recipe.data.target_tokenizer);
  if (problems.empty()) return recipe;
  const std::string text = text_of(std::move(problems));
  if (is_sound) throw DataError(text);
  throw RecipeError(text);
}

std::vector<std::string> incompatibilities(const Recipe& before, const Recipe& now) {
  std::vector<std::string> found;
  for (const Difference& each : differences(before, now)) {
    if (is_free(each.name)) continue;
    found.push_back(fmt::format("{} is {} there, {} here", each.name, each.first, each.second));
  }
  return found;
}

}  // namespace ballast
