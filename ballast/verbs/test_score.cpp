#include "ballast/verbs/test_score.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/decode/translate.h"
#include "ballast/metrics/bleu.h"
#include "ballast/recipe/open_run.h"
#include "ballast/store/safetensors.h"
#include "ballast/train/checkpoint.h"
#include "ballast/train/evaluate.h"
#include "ballast/verbs/language_evaluation.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/translation_lines.h"

namespace ballast {
namespace {

constexpr const char* result_file = "test.json";

int64_t best_step(const RunDirectory& directory) {
  const auto best = directory.best();
  return best ? best->step : directory.last_complete_step().value_or(0);
}

void load(Transformer& model, const RunDirectory& directory, int64_t step) {
  load_named_state(model, directory.load_model(step));
  model.context().step = step;
}

/// The text files of a pair.
struct Pair {
  std::string source, target;
};

std::vector<std::string> translated(const Recipe& recipe, const Tokenizers& tokenizers,
                                    Transformer& model, const std::vector<std::string>& lines) {
  std::vector<std::vector<int64_t>> sources;
  for (const std::string& line : lines) {
    sources.push_back(source_of(tokenizers.source, line, recipe.data.length.max_length).ids);
  }
  return best_texts(translate(model, sources, recipe.decode, {}, special_ids(tokenizers.target)),
                    tokenizers.target);
}

BleuScore scored(const Pair& pair, const std::vector<std::string>& outputs) {
  const std::vector<std::vector<std::string>> references{read_lines(pair.target)};
  if (references.front().size() != outputs.size()) {
    throw DataError(fmt::format("data.test: {} has {} lines, but {} has {}", pair.source,
                                outputs.size(), pair.target, references.front().size()));
  }
  return corpus_bleu(outputs, references);
}

nlohmann::ordered_json score_pairs(const Recipe& recipe, const PreparedData& data,
                                   Transformer& model, RunDirectory& directory) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (size_t i = 0; i + 1 < recipe.data.test.size(); i += 2) {
    const Pair pair{recipe.data.test[i], recipe.data.test[i + 1]};
    const auto outputs = translated(recipe, *data.tokenizers, model, read_lines(pair.source));
    const double bleu = scored(pair, outputs).score;
    std::string text;
    for (const std::string& line : outputs) text += line + "\n";
    const std::string name = fmt::format("test.{}.hypothesis", i / 2 + 1);
    directory.write_text(name, text);
    results.push_back({{"source", pair.source},
                       {"target", pair.target},
                       {"bleu", bleu},
                       {"signature", bleu_signature({}, 1)},
                       {"hypothesis", name}});
    fmt::print("test: BLEU {:.2f} on {} ({} lines)\n", bleu, pair.source, outputs.size());
  }
  return results;
}

}  // namespace

bool is_test_scored(const RunDirectory& directory) {
  if (!std::filesystem::exists(directory.file(result_file))) return false;
  const auto known = nlohmann::json::parse(directory.read_text(result_file), nullptr, false);
  return known.is_object() && known.value("step", int64_t{-1}) == best_step(directory);
}

void score_test(const Recipe& recipe, const PreparedData& data, Transformer& model,
                RunDirectory& directory) {
  const int64_t step = best_step(directory);
  load(model, directory, step);
  const EncodedCorpus corpus = encode_files(recipe, {recipe.data.test, {}}, *data.tokenizers);
  refuse_empty(recipe, "data.test", {recipe.data.test, {}}, corpus);
  const Evaluation found =
      evaluate(model, corpus, {.tokens = recipe.train.batch_tokens}, loss_options(recipe.train));
  fmt::print("test: loss {:.4f}, perplexity {:.2f} (step {})\n", found.loss, found.perplexity(),
             step);
  nlohmann::ordered_json result{{"step", step},
                                {"loss", found.loss},
                                {"nll", found.nll},
                                {"perplexity", found.perplexity()},
                                {"tokens", found.tokens}};
  if (recipe.model.shape().has_source) {
    result["pairs"] = score_pairs(recipe, data, model, directory);
  } else if (continues_text(recipe.model)) {
    const TextEvaluation whole{.nll = found.nll * static_cast<double>(found.tokens),
                               .tokens = found.tokens,
                               .size = size_of_files(recipe.data.test, recipe.data)};
    fmt::print("{}", measures_text(whole));
    result.update(measures_of(whole));
  }
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  directory.write_text(result_file, result.dump(2, ' ', false, replace) + "\n");
}

}  // namespace ballast
