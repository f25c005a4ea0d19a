#include "bench/corpus.h"

#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/batch_stream.h"
#include "ballast/data/corpus_cache.h"
#include "ballast/data/text.h"

namespace ballast::bench {
namespace {

CorpusKey handed_over(int64_t vocabulary_size) { return {key_of("bench"), vocabulary_size}; }

void check_is_there(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (std::filesystem::exists(file)) continue;
    throw DataError(fmt::format(
        "{} is not there; tools/fetch_corpus (or ./quickstart) makes the default corpus, --corpus "
        "names another folder with train.en, train.de, test.en and test.de",
        file));
  }
}

}  // namespace

Tokenizer learn_vocabulary(const Recipe& recipe) {
  check_is_there(recipe.data.train);
  check_is_there(recipe.data.test);
  return learn_tokenizer(recipe);
}

Encoded encoded_training_text(const Recipe& recipe) {
  const Tokenizer tokenizer = learn_vocabulary(recipe);
  EncodedCorpus corpus = encode_files(recipe, {.text = recipe.data.train, .cache = {}}, tokenizer);
  return {std::make_shared<EncodedCorpus>(std::move(corpus)), tokenizer.size()};
}

std::vector<std::vector<int64_t>> test_sources(const Recipe& recipe, const Tokenizer& tokenizer,
                                               int64_t count) {
  std::vector<std::vector<int64_t>> sources;
  for (const std::string& line : read_lines(recipe.data.test.front())) {
    if (static_cast<int64_t>(sources.size()) == count) break;
    sources.push_back(tokenizer.encode(line));
    sources.back().push_back(tokenizer.end_id());
  }
  return sources;
}

std::vector<Batch> first_batches(const Recipe& recipe, const Encoded& data, int64_t count) {
  BatchStream stream(data.train, {.tokens = recipe.train.batch_tokens},
                     static_cast<uint64_t>(recipe.seed));
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) batches.push_back(stream.next());
  return batches;
}

void write_encoded(const Encoded& data, const std::filesystem::path& file) {
  save_corpus(*data.train, handed_over(data.vocabulary_size), file);
}

Encoded read_encoded(int64_t vocabulary_size, const std::filesystem::path& file) {
  auto read = load_corpus(handed_over(vocabulary_size), file);
  if (!read) throw DataError(fmt::format("{} holds no encoded corpus", file.string()));
  return {std::make_shared<EncodedCorpus>(std::move(*read)), vocabulary_size};
}

}  // namespace ballast::bench
