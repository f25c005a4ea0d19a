#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ballast/metrics/bleu.h"
#include "ballast/metrics/significance.h"

namespace ballast {

/// One metric's score of one system.
struct ScoreResult {
  std::string key, title, signature;
  double score = 0;
  std::optional<BleuScore> bleu;
  std::optional<Confidence> confidence;
  std::optional<double> p_value;
};

struct SystemResult {
  std::string system;
  std::vector<ScoreResult> scores;  ///< a score a metric, in the same order for all systems
};

/// sacreBLEU's line, `BLEU|nrefs:1|...|version:2.6.0 = 27.4 (μ = 27.4 ± 0.5) 58.9/33.6/21.3/13.9
/// (BP = ...)`.
std::string score_line(const ScoreResult& result, int width);

/// A row a system, a column a metric: `27.4 (27.4 ± 0.5) p = 0.0123*`, the star for p < 0.05. Below
/// it the signatures.
std::string score_table(const std::vector<SystemResult>& systems, int width);

/// An object of one line.
std::string score_object(const ScoreResult& result);

/// `{"bleu": {...}, ...}`.
std::string score_json(const SystemResult& system);

/// `{"systems": [{"system": "FILE", "bleu": {...}, ...}, ...]}`.
std::string score_json(const std::vector<SystemResult>& systems);

}  // namespace ballast
