#include "ballast/cli/score.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/metrics/bleu.h"
#include "ballast/metrics/chrf.h"
#include "ballast/metrics/ter.h"

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

const std::vector<std::string> metric_names{"bleu", "chrf", "ter"};

struct ScoreArguments {
  std::string hypotheses = "-";
  std::vector<std::string> references;
  std::vector<std::string> metrics{"bleu"};
  BleuOptions bleu;
  ChrfOptions chrf;
  TerOptions ter;
  int width = 1;
  bool json = false;
};

struct Scored {
  std::string key, title, signature;
  double score;
  std::optional<BleuScore> bleu;
};

struct Texts {
  Lines hypotheses;
  std::vector<Lines> references;
};

std::string spoken_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Texts read_texts(const ScoreArguments& arguments) {
  Texts texts{read_lines(arguments.hypotheses), {}};
  const size_t count = texts.hypotheses.size();
  if (count == 0) {
    throw DataError(spoken_name(arguments.hypotheses) +
                    " has no lines; expected one hypothesis a line");
  }
  for (const std::string& file : arguments.references) {
    texts.references.push_back(read_lines(file));
    const size_t found = texts.references.back().size();
    if (found == count) continue;
    throw DataError(
        fmt::format("{} has {} lines, but {} has {}; line n of both must be the same sentence",
                    spoken_name(file), found, spoken_name(arguments.hypotheses), count));
  }
  return texts;
}

Scored scored(const std::string& metric, const Texts& texts, const ScoreArguments& arguments) {
  const size_t references = texts.references.size();
  if (metric == "chrf") {
    return {metric, chrf_name(arguments.chrf), chrf_signature(arguments.chrf, references),
            corpus_chrf(texts.hypotheses, texts.references, arguments.chrf), std::nullopt};
  }
  if (metric == "ter") {
    return {metric, "TER", ter_signature(arguments.ter, references),
            corpus_ter(texts.hypotheses, texts.references, arguments.ter).score, std::nullopt};
  }
  const BleuScore bleu = corpus_bleu(texts.hypotheses, texts.references, arguments.bleu);
  return {metric, "BLEU", bleu_signature(arguments.bleu, references), bleu.score, bleu};
}

nlohmann::ordered_json as_json(const Scored& result) {
  nlohmann::ordered_json json{{"score", result.score}, {"signature", result.signature}};
  if (const auto& bleu = result.bleu) {
    json.update({{"counts", bleu->counts},
                 {"totals", bleu->totals},
                 {"precisions", bleu->precisions},
                 {"bp", bleu->bp},
                 {"sys_len", bleu->sys_len},
                 {"ref_len", bleu->ref_len}});
  }
  return json;
}

std::string details(const BleuScore& bleu) {
  const auto& p = bleu.precisions;
  const double ratio =
      bleu.ref_len == 0 ? 0 : static_cast<double>(bleu.sys_len) / static_cast<double>(bleu.ref_len);
  return fmt::format(
      " {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", p[0],
      p[1], p[2], p[3], bleu.bp, ratio, bleu.sys_len, bleu.ref_len);
}

std::string as_text(const Scored& result, int width) {
  return fmt::format("{}|{} = {:.{}f}{}", result.title, result.signature, result.score, width,
                     result.bleu ? details(*result.bleu) : "");
}

// `--metrics bleu chrf FILE`: a flag with several values swallows a file name after it.
void free_swallowed_file(ScoreArguments& arguments, const CLI::App& command) {
  const std::string& last = arguments.metrics.back();
  const bool is_metric = std::ranges::find(metric_names, last) != metric_names.end();
  if (is_metric || arguments.metrics.size() == 1 || command.count("hypotheses") > 0) return;
  arguments.hypotheses = last;
  arguments.metrics.pop_back();
}

void score(ScoreArguments arguments, const CLI::App& command) {
  free_swallowed_file(arguments, command);
  for (const std::string& metric : arguments.metrics) {
    if (std::ranges::find(metric_names, metric) != metric_names.end()) continue;
    throw RecipeError(fmt::format("\"{}\" is no metric; expected bleu, chrf or ter", metric));
  }
  const Texts texts = read_texts(arguments);
  nlohmann::ordered_json json;
  for (const std::string& metric : metric_names) {
    if (std::ranges::find(arguments.metrics, metric) == arguments.metrics.end()) continue;
    const Scored result = scored(metric, texts, arguments);
    json[metric] = as_json(result);
    if (!arguments.json) std::cout << as_text(result, arguments.width) << '\n';
  }
  if (arguments.json) std::cout << json.dump(2) << '\n';
}

template <NamedEnum E>
void add_choice(CLI::App& command, const std::string& flag, E& value, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : EnumNames<E>::value) names.emplace_back(name);
  command
      .add_option_function<std::string>(
          flag, [&value](const std::string& name) { value = *enum_value<E>(name); }, help)
      ->check(CLI::IsMember(names))
      ->default_str(std::string(enum_name(value)));
}

void add_options(CLI::App& command, ScoreArguments& arguments) {
  command.add_option("hypotheses", arguments.hypotheses, "Text to score; - is standard input")
      ->capture_default_str();
  command.add_option("-r,--reference", arguments.references, "Reference; repeat it for several")
      ->required()
      ->allow_extra_args(false);
  command.add_option("-m,--metrics", arguments.metrics, "Metrics to compute: bleu, chrf, ter")
      ->expected(1, static_cast<int>(metric_names.size()))
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "Print one object, a key a metric");
  command.add_option("-w,--width", arguments.width, "Digits after the point in text")
      ->check(CLI::Range(0, 15))
      ->capture_default_str();
}

void add_metric_options(CLI::App& command, ScoreArguments& arguments) {
  BleuOptions& bleu = arguments.bleu;
  add_choice(command, "--tokenize", bleu.tokenize, "BLEU: how lines are cut into words");
  add_choice(command, "--smooth-method", bleu.smooth_method,
             "BLEU: what orders without a match count");
  command
      .add_option("--smooth-value", bleu.smooth_value,
                  "BLEU: value of floor (default 0.1) and add-k (default 1)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--lowercase", bleu.lowercase, "BLEU: compare without case");
  command.add_flag("--use-effective-order", bleu.effective_order,
                   "BLEU: leave out orders that the text is too short for");
  command
      .add_option("--chrf-word-order", arguments.chrf.word_order,
                  "chrF: longest n-gram of words; 2 is chrF++")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_flag("--chrf-lowercase", arguments.chrf.lowercase, "chrF: compare without case");
  command.add_flag("--ter-case-sensitive", arguments.ter.case_sensitive, "TER: compare with case");
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* command = app.add_subcommand("score", "BLEU, chrF and TER, equal to sacreBLEU's");
  const auto arguments = std::make_shared<ScoreArguments>();
  add_options(*command, *arguments);
  add_metric_options(*command, *arguments);
  command->callback([arguments, command] { score(*arguments, *command); });
}

}  // namespace ballast
