#include "ballast/verbs/prepared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ballast/base/error.h"
#include "ballast/data/contexts.h"
#include "ballast/recipe/open_run.h"
#include "ballast/recipe/resolve.h"
#include "ballast/store/run_names.h"
#include "ballast/train/text_evaluation.h"
#include "ballast/verbs/encoding_line.h"

namespace ballast {
namespace {

/// What keeps every sequence of a text from being used.
std::string emptiness(const Recipe& recipe, const EncodedCorpus& corpus) {
  if (corpus.contexts && corpus.dropped_empty > 0) {
    return fmt::format("has no document with a token to predict ({} are blank or too short)",
                       corpus.dropped_empty);
  }
  if (corpus.dropped_long == 0) return "has no line that is not blank; expected lines of text";
  return fmt::format(
      "has no sentence that is short enough ({} are longer than data.length.max_length = {} "
      "tokens, {} are blank); raise it, or give shorter ones",
      corpus.dropped_long, recipe.data.length.max_length, corpus.dropped_empty);
}

void print_size(std::string_view name, const Recipe& recipe, const EncodedCorpus& corpus) {
  if (corpus.contexts) {
    const TokenStream& stream = corpus.contexts->stream();
    fmt::print("{}: {} contexts, {} tokens, {} documents", name, corpus.count(), stream.size(),
               stream.documents());
    if (corpus.dropped_empty > 0) fmt::print(", {} left out as empty", corpus.dropped_empty);
  } else {
    fmt::print("{}: {} sequences, {} target tokens", name, corpus.count(),
               corpus.target.ids().size());
    if (corpus.dropped_empty > 0) fmt::print(", {} dropped as empty", corpus.dropped_empty);
  }
  if (corpus.dropped_long > 0) {
    fmt::print(", {} dropped as longer than {} tokens", corpus.dropped_long,
               recipe.data.length.max_length);
  }
  fmt::print("\n");
}

std::shared_ptr<const EncodedCorpus> encoded(const Recipe& recipe, std::string_view option,
                                             const CorpusFiles& files, const Tokenizers& tokenizers,
                                             const std::stop_token& stop) {
  const std::string name(option.substr(option.rfind('.') + 1));
  auto corpus = std::make_shared<EncodedCorpus>();
  {
    EncodingLine line(name);
    *corpus = encode_files(
        recipe, files, tokenizers,
        {stop, print_remark, [&](const EncodingProgress& progress) { line.show(progress); }});
  }
  refuse_empty(recipe, option, files, *corpus);
  print_size(name, recipe, *corpus);
  return corpus;
}

void print_sizes(const Tokenizers& tokenizers) {
  if (tokenizers.joint()) {
    fmt::print("vocabulary: {} pieces\n", tokenizers.source.size());
  } else {
    fmt::print("vocabularies: {} source pieces, {} target pieces\n", tokenizers.source.size(),
               tokenizers.target.size());
  }
}

PreparedData prepared_data(const Recipe& recipe, RunDirectory& directory,
                           const std::stop_token& stop) {
  PreparedData data;
  data.tokenizers = std::make_shared<Tokenizers>(
      adopt_tokenizers(directory, recipe, {.stop = stop, .remark = print_remark}));
  print_sizes(*data.tokenizers);
  data.train =
      encoded(recipe, "data.train", training_files(recipe.data, directory.file("train.tokens")),
              *data.tokenizers, stop);
  if (!recipe.data.valid.empty()) {
    data.valid = encoded(recipe, "data.valid", {recipe.data.valid, directory.file("valid.tokens")},
                         *data.tokenizers, stop);
    if (continues_text(recipe.model)) {
      data.valid_text = size_of_files(recipe.data.valid, recipe.data);
    }
  }
  return data;
}

/// What a run holds already, for whoever stopped it.
std::string kept_text(const RunDirectory& directory, const Recipe& recipe) {
  if (const auto step = directory.last_complete_step()) return fmt::format("step {}", *step);
  std::vector<std::string> kept = vocabulary_names(recipe);
  kept.insert(kept.end(),
              {"train.tokens", "train.tokens.chunks", "valid.tokens", "valid.tokens.chunks"});
  std::erase_if(kept, [&](const std::string& name) {
    return !std::filesystem::exists(directory.file(name));
  });
  if (kept.empty()) return "no vocabulary yet";
  return fmt::format("{}", fmt::join(kept, ", "));
}

[[noreturn]] void stopped(const RunDirectory& directory, const Recipe& recipe) {
  throw Stopped(fmt::format(
      "stopped as asked before any training; {} holds {}; the same command goes on from there",
      directory.path().string(), kept_text(directory, recipe)));
}

}  // namespace

Recipe recipe_for(const RecipeFlags& flags, const std::filesystem::path& path) {
  const bool has_copies = std::filesystem::is_directory(path) && is_run(path);
  return load_recipe(flags.recipe, flags.overrides,
                     has_copies ? TextFiles::needed_but_vocabularies : TextFiles::needed);
}

void refuse_empty(const Recipe& recipe, std::string_view option, const CorpusFiles& files,
                  const EncodedCorpus& corpus) {
  if (corpus.count() > 0) return;
  throw DataError(
      fmt::format("{}: {} {}", option, fmt::join(files.text, " and "), emptiness(recipe, corpus)));
}

PreparedRun prepared_run(const Recipe& recipe, const std::filesystem::path& path,
                         const std::stop_token& stop) {
  PreparedRun run{RunDirectory::open_or_create(path), {}};
  adopt_recipe(run.directory, recipe);
  try {
    run.data = prepared_data(recipe, run.directory, stop);
  } catch (const Stopped&) {
    stopped(run.directory, recipe);
  }
  return run;
}

void stop_before_training(const RunDirectory& directory, const Recipe& recipe,
                          const std::stop_token& stop) {
  if (stop.stop_requested()) stopped(directory, recipe);
}

void print_doubts(const Recipe& recipe) {
  for (const Contradiction& each : doubts(recipe)) print_remark("note: " + each.text);
}

void print_remark(const std::string& text) { fmt::print(stderr, "{}\n", text); }

void print_profile(const Profile& profile) {
  for (const auto& [name, stack] : EnumNames<Stack>::value) {
    std::vector<double> omegas;
    for (const ProfiledSite& each : profile) {
      if (each.site.stack == stack) omegas.push_back(each.omega);
    }
    if (omegas.empty() || omegas.front() == omegas.back()) continue;
    fmt::print("calibrated {}: omega {:.3f} ... {:.3f} ... {:.3f}\n", name, omegas.front(),
               omegas[omegas.size() / 2], omegas.back());
  }
}

}  // namespace ballast
