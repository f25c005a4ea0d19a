#include "ballast/verbs/prepared.h"

#include <fmt/format.h>

#include <vector>

#include "ballast/recipe/open_run.h"

namespace ballast {
namespace {

std::shared_ptr<const EncodedCorpus> encoded(const Recipe& recipe, const char* part,
                                             const CorpusFiles& files, const Tokenizer& tokenizer) {
  auto corpus = std::make_shared<EncodedCorpus>(encode_files(recipe, files, tokenizer));
  fmt::print("{}: {} sequences, {} target tokens", part, corpus->count(),
             corpus->target.ids().size());
  if (corpus->dropped_empty > 0) fmt::print(", {} dropped as empty", corpus->dropped_empty);
  if (corpus->dropped_long > 0) {
    fmt::print(", {} dropped as longer than {} tokens", corpus->dropped_long,
               recipe.data.length.max_length);
  }
  fmt::print("\n");
  return corpus;
}

}  // namespace

PreparedRun prepared_run(const Recipe& recipe, const std::filesystem::path& path) {
  PreparedRun run{RunDirectory::open_or_create(path), {}};
  auto& [directory, data] = run;
  adopt_recipe(directory, recipe);
  data.tokenizer = adopt_tokenizer(directory, recipe);
  fmt::print("vocabulary: {} pieces\n", data.tokenizer->size());
  data.train = encoded(recipe, "train", {recipe.data.train, directory.file("train.tokens")},
                       *data.tokenizer);
  if (!recipe.data.valid.empty()) {
    data.valid = encoded(recipe, "valid", {recipe.data.valid, directory.file("valid.tokens")},
                         *data.tokenizer);
  }
  return run;
}

void print_profile(const Profile& profile) {
  for (const auto& [stack, name] :
       {std::pair{Stack::encoder, "encoder"}, std::pair{Stack::decoder, "decoder"}}) {
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
