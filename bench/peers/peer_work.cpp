// Writes what train_step and decode compute on, for programs in other languages: the first batches
// and the first weights of each model, and the sentences that decode translates. in_turn.py also
// hands the encoded text to the sides of these two programs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/model/inventory.h"
#include "ballast/store/safetensors.h"
#include "bench/corpus.h"
#include "bench/models.h"
#include "bench/process.h"

namespace {

using namespace ballast;
using namespace ballast::bench;
namespace fs = std::filesystem;

constexpr int64_t batches = 12, sentences = 500;

using Lists = std::vector<std::vector<int64_t>>;

Lists lists(const torch::Tensor& ids, const Segments& segments) {
  Lists found;
  const int64_t* at = ids.data_ptr<int64_t>();
  for (const int64_t length : segments.lengths()) {
    found.emplace_back(at, at + length);
    at += length;
  }
  return found;
}

nlohmann::json json_of(const Batch& batch) {
  const bool translates = batch.source.segments.count() > 0;
  return {{"source", translates ? lists(batch.source.tokens, batch.source.segments) : Lists{}},
          {"input", lists(batch.target_input.tokens, batch.target_input.segments)},
          {"output", lists(batch.target_output, batch.target_input.segments)},
          {"tokens", batch.tokens}};
}

void write(const fs::path& file, const nlohmann::json& json) {
  std::ofstream out(file);
  out << json.dump() << std::flush;
  if (!out) throw StoreError(fmt::format("{} could not be written", file.string()));
}

void write_batches(const fs::path& file, const Recipe& recipe, const Encoded& data) {
  nlohmann::json found = nlohmann::json::array();
  for (const Batch& each : first_batches(recipe, data, batches)) found.push_back(json_of(each));
  write(file, {{"vocabulary", data.vocabulary_size}, {"batches", found}});
}

void write_weights(const fs::path& file, const Recipe& recipe, const Encoded& data) {
  const auto built = build_model(recipe, {data.vocabulary_size, data.vocabulary_size});
  NamedTensors tensors;
  for (const InventoryEntry& each : inventory(*built.model).parameters) {
    tensors.emplace_back(each.name, each.tensor.detach());
  }
  write_safetensors(file, tensors);
}

void write_sentences(const fs::path& folder, const Recipe& recipe) {
  const Encoded test = encoded(recipe, recipe.data.test);
  save(test, folder / "decode.tokens");
  Lists sources;
  for (int64_t i = 0; i < std::min(sentences, test.corpus->count()); ++i) {
    const auto ids = test.corpus->source[i];
    sources.emplace_back(ids.begin(), ids.end());
  }
  write(folder / "decode.json", {{"vocabulary", test.vocabulary_size}, {"sources", sources}});
}

void run(const fs::path& corpus, const fs::path& folder) {
  fs::create_directories(folder);
  for (const std::string& name : model_names()) {
    const Recipe recipe = recipe_of(name, corpus);
    const Encoded data = encoded(recipe, recipe.data.train);
    save(data, folder / (name + ".tokens"));
    write_batches(folder / (name + ".batches.json"), recipe, data);
    write_weights(folder / (name + ".safetensors"), recipe, data);
  }
  write_sentences(folder, recipe_of(model_names().front(), corpus));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes the batches, weights and sentences of bench for programs of peers"};
  std::string corpus = default_corpus, folder;
  app.add_option("--corpus", corpus, "Folder with train.en, train.de, test.en and test.de")
      ->capture_default_str();
  app.add_option("folder", folder, "Where to")->required();
  CLI11_PARSE(app, argc, argv);
  return guarded("peer_work", [&] { run(corpus, folder); });
}
