#include "ballast/recipe/assemble.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"
#include "ballast/data/contexts.h"
#include "ballast/data/corpus_cache.h"
#include "ballast/data/learn_vocabulary.h"
#include "ballast/data/masking.h"
#include "ballast/data/parallel_text.h"
#include "ballast/data/text.h"
#include "ballast/data/vocabulary_file.h"
#include "ballast/options/schema.h"
#include "ballast/recipe/memory.h"

namespace ballast {
namespace {

using Paths = std::vector<std::filesystem::path>;

/// Every second file, from `first`: one side of a list of pairs.
Paths side(const std::vector<std::string>& files, size_t first) {
  Paths paths;
  for (size_t i = first; i < files.size(); i += 2) paths.emplace_back(files[i]);
  return paths;
}

/// Text to learn a vocabulary from, and where its overlong words are.
struct LearningText {
  std::vector<std::string> lines;
  int64_t overlong = 0;  ///< lines that have such a word
  std::string first;     ///< file and line of the first
};

void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped("stopped as asked");
}

LearningText learning_text(const std::vector<std::string>& files, const std::string& json_field,
                           const std::stop_token& stop) {
  LearningText text;
  const auto add = [&](std::string_view line, const std::string& name, int64_t number) {
    stop_if_asked(stop);
    text.lines.emplace_back(line);
    if (!has_overlong_word(line)) return;
    if (text.overlong++ == 0) text.first = fmt::format("{}:{}", name, number);
  };
  for (const std::string& file : files) for_each_text_line(file, json_field, add);
  return text;
}

Tokenizer learned(const std::vector<std::string>& files, const std::string& json_field,
                  const LearnedChoice& options, const Oversight& oversight) {
  const LearningText text = learning_text(files, json_field, oversight.stop);
  if (text.overlong > 0 && oversight.remark) {
    oversight.remark(fmt::format(
        "{}: a word of more than {} bytes; {} such line{}, whose words are cut where the "
        "vocabulary is learned",
        text.first, longest_word, text.overlong, text.overlong == 1 ? "" : "s"));
  }
  try {
    return Tokenizer::train(text.lines, options, oversight.stop);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", fmt::join(files, ", "), error.what()));
  }
}

/// The training text of a side.
std::vector<std::string> files_of(const DataOptions& data, Side side) {
  if (side == Side::both) return data.train;
  std::vector<std::string> files;
  for (size_t i = side == Side::source ? 0 : 1; i < data.train.size(); i += 2) {
    files.push_back(data.train[i]);
  }
  return files;
}

/// Null where the model predicts every token.
std::shared_ptr<const Masking> masking_of(const Recipe& recipe, const Tokenizer& tokenizer) {
  if (!recipe.model.shape().predicts_masked()) return {};
  return std::make_shared<Masking>(recipe.data.masking, maskable(tokenizer),
                                   static_cast<uint64_t>(recipe.seed));
}

Packing packing_of(const DataOptions& data, const CorpusFiles& files, const Tokenizer& tokenizer) {
  Packing packing{.context = data.context,
                  .begin = begin_piece(tokenizer),
                  .crosses_documents = data.cross_documents,
                  .positions_go_on = data.document_positions == DocumentPositions::go_on,
                  .mixture = files.mixture};
  // Plain lines were there first, in this order; the runs that were made so go on.
  packing.scattered = data.documents != Documents::lines || !data.cross_documents ||
                      !files.mixture.empty() || std::ranges::any_of(files.text, is_json_lines);
  return packing;
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

const TokenizerChoice& tokenizer_choice(const DataOptions& data, Side side) {
  return side == Side::target ? data.target_tokenizer.value() : data.tokenizer;
}

Tokenizer make_tokenizer(const Recipe& recipe, Side side, const Oversight& oversight) {
  const Overloaded make{
      [&](const SentencePieceFile& given) {
        return read_sentencepiece(given.file, oversight.stop);
      },
      [&](const WordFile& given) { return read_words(given.file); },
      [&](const BytePairFile& given) { return read_byte_pairs(given.file, given.merges); },
      [](const Bytes&) { return byte_tokenizer(); },
      [&](const auto& options) {
        return learned(files_of(recipe.data, side), recipe.data.json_field, options, oversight);
      }};
  return std::visit(make, tokenizer_choice(recipe.data, side));
}

Tokenizers tokenizers_by(const DataOptions& data, const std::function<Tokenizer(Side)>& make) {
  if (!data.target_tokenizer) return make(Side::both);
  Tokenizer source = make(Side::source);
  return {std::move(source), make(Side::target)};
}

Tokenizers make_tokenizers(const Recipe& recipe, const Oversight& oversight) {
  return tokenizers_by(recipe.data,
                       [&](Side side) { return make_tokenizer(recipe, side, oversight); });
}

VocabularySizes sizes_of(const Recipe& recipe, const Tokenizers& tokenizers) {
  VocabularySizes sizes{tokenizers.source.size(), tokenizers.target.size(), tokenizers.joint()};
  if (recipe.model.shape().predicts_masked()) {
    sizes.target = std::max(sizes.target, mask_id(tokenizers.target) + 1);
  }
  return sizes;
}

CorpusFiles training_files(const DataOptions& data, const std::filesystem::path& cache) {
  return {data.train, cache, data.mixture};
}

EncodedCorpus encode_files(const Recipe& recipe, const CorpusFiles& files,
                           const Tokenizers& tokenizers, const Oversight& oversight) {
  if (!recipe.model.shape().has_source) {
    const Tokenizer& tokenizer = tokenizers.target;
    const Packing packing = packing_of(recipe.data, files, tokenizer);
    const bool predicts_first = packing.crosses_documents || packing.begin;
    TokenStream stream = encode_documents(
        {files.text, document_rules(recipe.data, tokenizer), predicts_first ? 1 : 2}, tokenizer,
        files.cache, {at::get_num_threads(), oversight.stop, oversight.progress});
    EncodedCorpus made{.dropped_empty = stream.dropped()};
    made.contexts = std::make_shared<Contexts>(std::move(stream), packing);
    made.masking = masking_of(recipe, tokenizer);
    return made;
  }
  const ParallelText text = read_parallel(side(files.text, 0), side(files.text, 1));
  const CorpusKey key = key_of_pairs(text, tokenizers, recipe.data.length);
  return cached(files.cache, key,
                [&] { return encode(text, tokenizers, recipe.data.length, oversight.stop); });
}

PlannedModel build_empty_model(const Recipe& recipe, const VocabularySizes& sizes) {
  refuse_too_large(recipe, sizes, Purpose::use);
  auto model = std::make_shared<Transformer>(recipe.model, sizes);
  const Rules rules{recipe.init, recipe.parameterization, recipe.optimizer};
  Plan planned = plan(*model, rules);
  parameterize(planned);
  return {model, std::move(planned)};
}

PlannedModel build_model(const Recipe& recipe, const VocabularySizes& sizes) {
  PlannedModel made = build_empty_model(recipe, sizes);
  initialize(made.plan, static_cast<uint64_t>(recipe.seed));
  return made;
}

Profile calibrate_on(const Recipe& recipe, Transformer& model,
                     const std::shared_ptr<const EncodedCorpus>& corpus) {
  const auto seed = static_cast<uint64_t>(recipe.seed);
  model.context().seed = seed;
  BatchStream stream(corpus, {.tokens = recipe.train.batch_tokens}, seed);
  const Batch batch = stream.next().to(model.device());
  return calibrate(model, batch.source, batch.target_input);
}

TrainingParts training_parts(const Recipe& recipe, const PlannedModel& model,
                             const PreparedData& data) {
  return {.model = model.model,
          .plan = model.plan,
          .optimizer = recipe.optimizer,
          .schedule = recipe.schedule,
          .options = recipe.train,
          .decode = recipe.decode,
          .train = data.train,
          .valid = data.valid,
          .tokenizer = std::make_shared<Tokenizer>(data.tokenizers->target),
          .valid_text = data.valid_text,
          .seed = static_cast<uint64_t>(recipe.seed)};
}

}  // namespace ballast
