#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/cli/score_flags.h"
#include "ballast/cli/score_report.h"
#include "ballast/cli/verbs.h"
#include "ballast/data/text.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

struct Texts {
  std::vector<Lines> systems, references;
};

std::string spoken_name(const std::string& file) { return file == "-" ? "standard input" : file; }

// As sacreBLEU reads them: white space at a line's end is none of its characters.
Lines trimmed_lines(const std::string& file) {
  Lines lines = read_lines(file);
  for (std::string& line : lines) line.resize(utf8(trim_end(code_points(line))).size());
  return lines;
}

Texts read_texts(const ScoreFlags& flags) {
  Texts texts;
  const auto read = [&](const std::string& file) {
    Lines lines = trimmed_lines(file);
    const size_t count = texts.systems.empty() ? lines.size() : texts.systems.front().size();
    if (lines.size() == count) return lines;
    throw DataError(
        fmt::format("{} has {} lines, but {} has {}; line n of both must be the same sentence",
                    spoken_name(file), lines.size(), spoken_name(flags.systems.front()), count));
  };
  for (const std::string& file : flags.systems) texts.systems.push_back(read(file));
  if (texts.systems.front().empty()) {
    throw DataError(spoken_name(flags.systems.front()) +
                    " has no lines; expected one hypothesis a line");
  }
  for (const std::string& file : flags.references) texts.references.push_back(read(file));
  return texts;
}

Metric metric_called(const std::string& key, const ScoreFlags& flags) {
  if (key == "chrf") return chrf_metric(flags.chrf);
  if (key == "ter") return ter_metric(flags.ter);
  return bleu_metric(flags.bleu);
}

// In the order of the list, whatever the flag's.
std::vector<Metric> metrics_of(const ScoreFlags& flags) {
  std::vector<Metric> metrics;
  for (const char* key : {"bleu", "chrf", "ter"}) {
    const bool wanted = std::ranges::find(flags.metrics, key) != flags.metrics.end();
    if (wanted) metrics.push_back(metric_called(key, flags));
  }
  return metrics;
}

std::optional<Resampling> resampling_of(const ScoreFlags& flags) {
  using enum Resampling::Kind;
  if (flags.confidence) return Resampling{bootstrap, flags.confidence_samples, flags.seed};
  if (flags.paired_bootstrap) return Resampling{bootstrap, flags.bootstrap_samples, flags.seed};
  if (flags.paired_randomization) {
    return Resampling{approximate_randomization, flags.randomization_samples, flags.seed};
  }
  return std::nullopt;
}

ScoreResult result_of(const Metric& metric, std::span<const double> sums, const ScoreFlags& flags,
                      const std::string& signature) {
  ScoreResult result{metric.key, metric.name, signature};
  result.score = metric.score(sums, Arithmetic::plain).value;
  if (metric.key == "bleu") result.bleu = bleu_of(sums, flags.bleu);
  return result;
}

void score_metric(const Metric& metric, const Texts& texts, const ScoreFlags& flags,
                  std::vector<SystemResult>& systems) {
  const std::optional<Resampling> resampling = resampling_of(flags);
  const std::string signature =
      metric.signature(texts.references.size(), resampling ? &*resampling : nullptr);
  std::vector<LineStatistics> statistics;
  for (size_t i = 0; i < systems.size(); ++i) {
    statistics.push_back(metric.statistics(texts.systems[i], texts.references));
    systems[i].scores.push_back(result_of(metric, statistics[i].sums(), flags, signature));
  }
  if (flags.confidence) {
    systems[0].scores.back().confidence = confidence_of(metric, statistics[0], *resampling);
  } else if (resampling) {
    const std::vector<Compared> results = compared(metric, statistics, *resampling);
    for (size_t i = 0; i < systems.size(); ++i) {
      systems[i].scores.back().confidence = results[i].confidence;
      systems[i].scores.back().p_value = results[i].p_value;
    }
  }
}

void print_sentences(const Metric& metric, const Texts& texts, const ScoreFlags& flags) {
  const std::string signature = metric.signature(texts.references.size(), nullptr);
  const LineStatistics statistics = metric.statistics(texts.systems[0], texts.references);
  for (size_t line = 0; line < statistics.lines(); ++line) {
    const ScoreResult result = result_of(metric, statistics.line(line), flags, signature);
    std::cout << (flags.json ? score_object(result) : score_line(result, flags.width)) << '\n';
  }
}

void print(const std::vector<SystemResult>& systems, const ScoreFlags& flags) {
  if (systems.size() > 1) {
    std::cout << (flags.json ? score_json(systems) + '\n' : score_table(systems, flags.width));
  } else if (flags.json) {
    std::cout << score_json(systems[0]) << '\n';
  } else {
    for (const ScoreResult& each : systems[0].scores) {
      std::cout << score_line(each, flags.width) << '\n';
    }
  }
}

void warn_of_tokenized(const Texts& texts, const ScoreFlags& flags) {
  const bool counts = std::ranges::find(flags.metrics, "bleu") != flags.metrics.end();
  if (flags.force || flags.sentence || !counts) return;
  for (size_t i = 0; i < texts.systems.size(); ++i) {
    if (!looks_tokenized(texts.systems[i])) continue;
    fmt::print(stderr,
               "ballast: {}: that's 100 lines that end in a tokenized period ('.'); it looks like "
               "you forgot to detokenize your test data, which may hurt your score; --force "
               "suppresses this message\n",
               spoken_name(flags.systems[i]));
  }
}

void score(ScoreFlags flags) {
  settle(flags);
  const std::vector<Metric> metrics = metrics_of(flags);
  const Texts texts = read_texts(flags);
  warn_of_tokenized(texts, flags);
  if (flags.sentence) return print_sentences(metrics.front(), texts, flags);
  std::vector<SystemResult> systems;
  for (const std::string& file : flags.systems) systems.push_back({file, {}});
  for (const Metric& metric : metrics) score_metric(metric, texts, flags, systems);
  print(systems, flags);
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* command = app.add_subcommand("score", "BLEU, chrF and TER, equal to sacreBLEU's");
  const auto flags = std::make_shared<ScoreFlags>();
  add_score_flags(*command, *flags);
  command->callback([flags] { score(*flags); });
}

}  // namespace ballast
