#include "ballast/verbs/language_evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/train/continuations.h"
#include "ballast/train/evaluate.h"
#include "ballast/train/text_evaluation.h"
#include "ballast/verbs/prepared.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

/// How many tokens the model is to read at once.
int64_t context_of(const EvaluateFlags& flags, const OpenedRun& run) {
  const int64_t context = flags.context.value_or(run.recipe.data.context);
  const int64_t longest = run.model->longest_sequence();
  if (context <= longest) return context;
  throw RecipeError(
      fmt::format("{}: found {}; the model has positions for {}; expected at most "
                  "that, see --context",
                  flags.context ? "--context" : "data.context", context, longest));
}

Sliding sliding_of(const EvaluateFlags& flags, const OpenedRun& run) {
  const int64_t context = context_of(flags, run);
  const int64_t stride = flags.stride.value_or(context);
  if (stride <= context) return {context, stride};
  throw RecipeError(fmt::format(
      "--stride: found {}, above the context of {} tokens, so that tokens would be left out; "
      "expected at most that",
      stride, context));
}

Json as_json(const TextEvaluation& found, const Sliding& sliding) {
  const auto tokens = static_cast<double>(found.tokens);
  Json json{{"loss", found.loss / tokens},
            {"nll", found.nll / tokens},
            {"perplexity", found.perplexity(found.tokens)},
            {"tokens", found.tokens},
            {"unknown_tokens", found.unknown}};
  json.update(measures_of(found));
  json.update({{"context", sliding.context}, {"stride", sliding.stride}});
  return json;
}

void print_lines(const TextEvaluation& found, const Sliding& sliding) {
  const auto tokens = static_cast<double>(found.tokens);
  fmt::print("loss {:.4f}, nll {:.4f} nats a token, perplexity {:.3f}, {} tokens\n{}",
             found.loss / tokens, found.nll / tokens, found.perplexity(found.tokens), found.tokens,
             measures_text(found));
  fmt::print("total: {:.3f} nats, windows of {} tokens, {} apart\n", found.nll, sliding.context,
             sliding.stride);
}

Json as_json(const ContinuationScore& each) {
  Json json{{"log_probability", each.score.log_probability},
            {"tokens", each.score.tokens},
            {"bytes", each.bytes},
            {"characters", each.characters},
            {"greedy", each.score.greedy}};
  if (each.cut > 0) json["cut"] = each.cut;
  return json;
}

/// What is out of the ordinary in some scores.
struct Oddities {
  int64_t cut = 0, empty = 0;
};

void remark(const Oddities& found, int64_t longest) {
  if (found.cut > 0) {
    print_remark(fmt::format(
        "note: continuations that are longer than {} tokens with their contexts: {}; the contexts "
        "are cut at their begin, \"cut\" says by how many tokens",
        longest, found.cut));
  }
  if (found.empty > 0) {
    print_remark(fmt::format(
        "note: continuations without a token of their own: {}; the vocabulary joins them with the "
        "end of their context, and their log-probability is 0",
        found.empty));
  }
}

}  // namespace

Json measures_of(const TextEvaluation& found) {
  const TextSize& size = found.size;
  return {{"total_nll", found.nll},
          {"words", size.words},
          {"word_perplexity", found.perplexity(size.words)},
          {"line_ends", size.line_ends},
          {"word_perplexity_with_line_ends", found.perplexity(size.words_and_line_ends())},
          {"bytes", size.bytes},
          {"byte_perplexity", found.perplexity(size.bytes)},
          {"bits_per_byte", bits_per_byte(found.nll, size.bytes)}};
}

std::string measures_text(const TextEvaluation& found) {
  const TextSize& size = found.size;
  return fmt::format(
      "by word: perplexity {:.3f}, {} words; with line ends {:.3f}, {} words\n"
      "by byte: perplexity {:.4f}, {:.4f} bits, {} bytes\n",
      found.perplexity(size.words), size.words, found.perplexity(size.words_and_line_ends()),
      size.words_and_line_ends(), found.perplexity(size.bytes),
      bits_per_byte(found.nll, size.bytes), size.bytes);
}

void print_text_evaluation(const EvaluateFlags& flags, const NamedFiles& text, OpenedRun& run) {
  const Sliding sliding = sliding_of(flags, run);
  const TrainOptions& train = run.recipe.train;
  const EncodedText encoded = read_text(text.files, run.tokenizers.target, run.recipe.data);
  if (encoded.size.words == 0) {
    throw DataError(fmt::format("{}: {} has no line that is not blank; expected lines of text",
                                text.option, fmt::join(text.files, " and ")));
  }
  const TextEvaluation found =
      evaluate_text(*run.model, encoded, sliding,
                    {.batch_tokens = train.batch_tokens, .loss = loss_options(train)});
  if (found.unknown > 0) {
    print_remark(fmt::format(
        "note: {} of {} tokens are the unknown piece, so the numbers by word and by byte cannot be "
        "compared with those of another vocabulary",
        found.unknown, found.tokens));
  }
  if (flags.json) {
    fmt::print("{}\n", as_json(found, sliding).dump(2));
  } else {
    print_lines(found, sliding);
  }
}

void print_continuations(const EvaluateFlags& flags, OpenedRun& run) {
  const std::vector<ContinuationItem> items = read_continuations(*flags.continuations);
  const int64_t longest = context_of(flags, run);
  const auto scores = score_continuations(*run.model, run.tokenizers.target, items, longest,
                                          run.recipe.train.batch_tokens);
  Oddities odd;
  for (size_t i = 0; i < items.size(); ++i) {
    Json list = Json::array();
    for (const ContinuationScore& each : scores[i]) {
      list.push_back(as_json(each));
      odd.cut += each.cut > 0 ? 1 : 0;
      odd.empty += each.score.tokens == 0 ? 1 : 0;
    }
    fmt::print("{}\n", (items[i].is_list ? Json{{"continuations", list}} : list.front()).dump());
  }
  remark(odd, longest);
}

}  // namespace ballast
