#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/metrics/metric.h"

namespace ballast {

/// Mean of the scores of bootstrap samples, and half the width of the range that holds 95 % of
/// them.
struct Confidence {
  double mean = 0;
  double half_width = 0;
};

/// One system of a significance test, beside the baseline or the baseline itself.
struct Compared {
  double score = 0;
  std::optional<double> p_value;         ///< none for the baseline
  std::optional<Confidence> confidence;  ///< none for approximate randomization
};

/// Bootstrap of one system, equal to sacreBLEU's `--confidence`: `samples` times as many lines as
/// there are, drawn with replacement. Koehn 2004, W04-3250.
Confidence confidence_of(const Metric& metric, const LineStatistics& statistics,
                         const Resampling& resampling);

/// The tests of sacreBLEU's `--paired-bs` and `--paired-ar`: each system against the first, the
/// baseline. p is the share of samples in which the difference strays from what is expected of
/// equal systems by more than the true difference. With the bootstrap a sample is drawn as above
/// (Koehn 2004, W04-3250); with approximate randomization it changes the two systems' lines for
/// each other at a coin's throw (Riezler and Maxwell 2005, W05-0908). All statistics are of the
/// same lines.
std::vector<Compared> compared(const Metric& metric, const std::vector<LineStatistics>& systems,
                               const Resampling& resampling);

/// Throws `RecipeError` unless `seed` is a whole number from 0 to 2^64 - 1 or `none`.
void check_seed(const std::string& seed);

}  // namespace ballast
