#include "ballast/recipe/assemble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <span>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"
#include "ballast/data/corpus_cache.h"
#include "ballast/data/parallel_text.h"
#include "ballast/data/text.h"

namespace ballast {
namespace {

using Paths = std::vector<std::filesystem::path>;

/// Every second file, from `first`: one side of a list of pairs.
Paths side(const std::vector<std::string>& files, size_t first) {
  Paths paths;
  for (size_t i = first; i < files.size(); i += 2) paths.emplace_back(files[i]);
  return paths;
}

std::vector<std::string> all_lines(const std::vector<std::string>& files) {
  std::vector<std::string> lines;
  for (const std::string& file : files) {
    for (std::string& line : read_lines(file)) lines.push_back(std::move(line));
  }
  return lines;
}

/// The cached corpus of this key, else what `make` gives, which is then cached.
template <class Make>
EncodedCorpus cached(const std::filesystem::path& cache, const CorpusKey& key, const Make& make) {
  if (cache.empty()) return make();
  if (auto kept = load_corpus(key, cache)) return std::move(*kept);
  EncodedCorpus made = make();
  save_corpus(made, key, cache);
  return made;
}

}  // namespace

Tokenizer learn_tokenizer(const Recipe& recipe) {
  try {
    return Tokenizer::train(all_lines(recipe.data.train), recipe.data.tokenizer);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", fmt::join(recipe.data.train, ", "), error.what()));
  }
}

EncodedCorpus encode_files(const Recipe& recipe, const CorpusFiles& files,
                           const Tokenizer& tokenizer) {
  if (recipe.model.kind == ModelKind::causal_lm) {
    const auto lines = all_lines(files.text);
    const CorpusKey key = key_of_stream(lines, tokenizer, recipe.data.context);
    return cached(files.cache, key,
                  [&] { return encode_stream(lines, tokenizer, recipe.data.context); });
  }
  const ParallelText text = read_parallel(side(files.text, 0), side(files.text, 1));
  const CorpusKey key = key_of_pairs(text, tokenizer, recipe.data.length);
  return cached(files.cache, key, [&] { return encode(text, tokenizer, recipe.data.length); });
}

PreparedModel build_model(const Recipe& recipe, int64_t vocabulary_size) {
  auto model = std::make_shared<Transformer>(recipe.model,
                                             VocabularySizes{vocabulary_size, vocabulary_size});
  const Rules rules{recipe.init, recipe.parameterization, gain_of(recipe.model)};
  std::vector<PlannedParameter> planned = plan(*model, rules);
  parameterize(planned);
  initialize(planned, static_cast<uint64_t>(recipe.seed));
  return {model, std::move(planned)};
}

Profile calibrate_on(const Recipe& recipe, Transformer& model,
                     const std::shared_ptr<const EncodedCorpus>& corpus) {
  const auto seed = static_cast<uint64_t>(recipe.seed);
  model.context().seed = seed;
  BatchStream stream(corpus, {.tokens = recipe.train.batch_tokens}, seed);
  const Batch batch = stream.next().to(model.target_embedding->weight.device());
  return calibrate(model, batch.source, batch.target_input);
}

TrainingParts training_parts(const Recipe& recipe, const PreparedModel& model,
                             const PreparedData& data) {
  return {.model = model.model,
          .plan = model.plan,
          .optimizer = recipe.optimizer,
          .schedule = recipe.schedule,
          .options = recipe.train,
          .decode = recipe.decode,
          .train = data.train,
          .valid = data.valid,
          .tokenizer = data.tokenizer,
          .seed = static_cast<uint64_t>(recipe.seed)};
}

}  // namespace ballast
