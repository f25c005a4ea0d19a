#include "bench/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/batch_stream.h"
#include "ballast/data/contexts.h"
#include "ballast/data/corpus_cache.h"

namespace ballast::bench {
namespace {

CorpusKey handed_over(int64_t vocabulary_size) {
  return {key_of("bench"), vocabulary_size, vocabulary_size};
}

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

Encoded encoded(const Recipe& recipe, const std::vector<std::string>& text) {
  check_is_there(recipe.data.train);
  check_is_there(text);
  const Tokenizers tokenizers = make_tokenizers(recipe);
  EncodedCorpus corpus = encode_files(recipe, {.text = text, .cache = {}}, tokenizers);
  if (corpus.contexts) corpus = as_lists(*corpus.contexts);
  return {std::make_shared<EncodedCorpus>(std::move(corpus)), tokenizers.target.size()};
}

std::vector<Batch> first_batches(const Recipe& recipe, const Encoded& data, int64_t count) {
  BatchStream stream(data.corpus, {.tokens = recipe.train.batch_tokens},
                     static_cast<uint64_t>(recipe.seed));
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) batches.push_back(stream.next());
  return batches;
}

void save(const Encoded& data, const std::filesystem::path& file) {
  save_corpus(*data.corpus, handed_over(data.vocabulary_size), file);
}

Handed::Handed(const Encoded& data)
    : file_(std::filesystem::temp_directory_path() /
            fmt::format("ballast-bench-{}.tokens", getpid())),
      vocabulary_size_(data.vocabulary_size) {
  save(data, file_);
}

Handed::~Handed() { std::filesystem::remove(file_); }

std::vector<std::string> Handed::arguments() const {
  return {"--encoded", file_.string(), "--vocabulary", fmt::format("{}", vocabulary_size_)};
}

void SideRequest::add_to(CLI::App& app) {
  app.add_option("--side", side)->group("");
  app.add_option("--encoded", encoded)->group("");
  app.add_option("--vocabulary", vocabulary_size)->group("");
  app.add_flag("--all-blas-threads", all_blas_threads)->group("");
}

Encoded SideRequest::read() const {
  auto corpus = load_corpus(handed_over(vocabulary_size), encoded);
  if (!corpus) throw DataError(fmt::format("{} holds no encoded corpus", encoded.string()));
  return {std::make_shared<EncodedCorpus>(std::move(*corpus)), vocabulary_size};
}

}  // namespace ballast::bench
