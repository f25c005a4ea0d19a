// A whole run without a recipe file or a text file: options in C++, sentences in memory, training,
// translation.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>

#include "ballast/base/philox.h"
#include "ballast/decode/translate.h"
#include "ballast/recipe/assemble.h"
#include "ballast/train/trainer.h"

namespace {

using namespace ballast;

constexpr std::array<const char*, 8> english{"one",  "two", "three", "four",
                                             "five", "six", "seven", "eight"};
constexpr std::array<const char*, 8> german{"eins", "zwei",  "drei",   "vier",
                                            "fünf", "sechs", "sieben", "acht"};

const Recipe recipe{
    .seed = 3,
    .model = {.d_model = 32,
              .d_ff = 64,
              .heads = 2,
              .encoder_layers = 2,
              .decoder_layers = 2,
              .dropout = 0,
              .residual = Admin{}},
    .data = {.tokenizer = Bpe{.vocabulary_size = 40}, .length = {.max_length = 20}},
    .train = {.steps = 300, .batch_tokens = 256, .checkpoint_every = 300, .keep = 1},
    .optimizer = Adam{.lr = 5e-3},
    .schedule = CosineOptions{.warmup = 30}};

/// Sentences of two to five numbers and their translations.
ParallelText sentences(int count) {
  ParallelText text;
  for (int i = 0; i < count; ++i) {
    std::string source, target;
    const uint64_t length = 2 + mix(1, static_cast<uint64_t>(i)) % 4;
    for (uint64_t k = 0; k < length; ++k) {
      const uint64_t word = mix(mix(2, static_cast<uint64_t>(i)), k) % english.size();
      source += (k == 0 ? "" : " ") + std::string(english[word]);
      target += (k == 0 ? "" : " ") + std::string(german[word]);
    }
    text.source.push_back(source);
    text.target.push_back(target);
  }
  return text;
}

PreparedData prepared(const ParallelText& text) {
  std::vector<std::string> lines = text.source;
  lines.insert(lines.end(), text.target.begin(), text.target.end());
  PreparedData data;
  const Tokenizer tokenizer = Tokenizer::train(lines, std::get<Bpe>(recipe.data.tokenizer));
  data.tokenizers = std::make_shared<Tokenizers>(tokenizer);
  data.train = std::make_shared<EncodedCorpus>(encode(text, tokenizer, recipe.data.length));
  return data;
}

TrainingSummary trained(const PlannedModel& planned, const PreparedData& data,
                        const std::filesystem::path& path) {
  RunDirectory directory = RunDirectory::open_or_create(path);
  Trainer trainer(training_parts(recipe, planned, data), directory, std::cout, Terminal::no);
  return trainer.run();
}

std::string translated(Transformer& model, const Tokenizer& tokenizer, const std::string& line) {
  std::vector<int64_t> ids = tokenizer.encode(line);
  ids.push_back(tokenizer.end_id());
  return tokenizer.decode(translate(model, {ids}, recipe.decode).front().front().tokens);
}

}  // namespace

int main() {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("ballast-whole-run-{}", getpid());
  const PreparedData data = prepared(sentences(500));
  const PlannedModel planned = build_model(recipe, sizes_of(recipe, *data.tokenizers));
  const Profile profile = calibrate_on(recipe, *planned.model, data.train);
  fmt::print("omega of the last connection: {:.3f}\n", profile.back().omega);
  const TrainingSummary summary = trained(planned, data, path);
  for (const std::string line : {"two three", "eight one five", "four four seven six"}) {
    fmt::print("{} -> {}\n", line, translated(*planned.model, data.tokenizers->source, line));
  }
  std::filesystem::remove_all(path);
  return summary.ending == Ending::complete && summary.loss < 1.5 ? 0 : 1;
}
