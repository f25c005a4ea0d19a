#include "ballast/metrics/significance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/number.h"
#include "ballast/metrics/numpy_random.h"

namespace ballast {
namespace {

// What numpy makes of a list of scores: float32 if all of them are.
struct Sample {
  std::vector<double> values;
  bool single = true;

  void push_back(const Scored& scored) {
    values.push_back(scored.value);
    single = single && scored.single;
  }
  double rounded(double value) const { return single ? static_cast<float>(value) : value; }
};

// numpy adds in eight strands and halves of what is longer than a block.
template <class Real>
Real pairwise_sum(std::span<const double> values) {
  constexpr size_t strands = 8, block = 128;
  const auto at = [&](size_t i) { return static_cast<Real>(values[i]); };
  if (values.size() > block) {
    const size_t half = values.size() / 2 / strands * strands;
    return pairwise_sum<Real>(values.first(half)) + pairwise_sum<Real>(values.subspan(half));
  }
  const size_t whole = values.size() / strands * strands;
  std::array<Real, strands> r{};
  for (size_t i = 0; i < whole; ++i) r[i % strands] = i < strands ? at(i) : r[i % strands] + at(i);
  Real sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (size_t i = whole; i < values.size(); ++i) sum += at(i);
  return sum;
}

double numpy_mean(const Sample& sample) {
  const auto count = sample.values.size();
  if (sample.single) return pairwise_sum<float>(sample.values) / static_cast<float>(count);
  return pairwise_sum<double>(sample.values) / static_cast<double>(count);
}

double half_width(const Sample& sorted) {
  const std::vector<double>& values = sorted.values;
  const size_t outside = values.size() / 40;
  return 0.5 * sorted.rounded(values[values.size() - outside - 1] - values[outside]);
}

uint64_t seed_of(const Resampling& resampling) {
  if (resampling.seed == "none") {
    std::random_device entropy;
    return uint64_t{entropy()} << 32 | entropy();
  }
  if (const auto seed = number_in<uint64_t>(resampling.seed)) return *seed;
  throw RecipeError(fmt::format(
      "the seed is \"{}\"; expected a whole number from 0 to 2^64 - 1, or none", resampling.seed));
}

// Scores of samples of lines, drawn with replacement. Sums are float32, line after line.
Sample bootstrap(const Metric& metric, const LineStatistics& statistics, int64_t samples,
                 uint64_t seed) {
  NumpyRandom random(seed);
  const std::vector<float> values(statistics.values.begin(), statistics.values.end());
  const size_t width = statistics.width;
  const auto lines = static_cast<uint32_t>(statistics.lines());
  Sample scores;
  std::vector<float> sums(width);
  std::vector<double> wide(width);
  for (int64_t s = 0; s < samples; ++s) {
    std::ranges::fill(sums, 0.0F);
    for (uint32_t drawn = 0; drawn < lines; ++drawn) {
      const float* line = values.data() + random.below(lines) * width;
      for (size_t i = 0; i < width; ++i) sums[i] += line[i];
    }
    std::ranges::copy(sums, wide.begin());
    scores.push_back(metric.score(wide, Arithmetic::single));
  }
  return scores;
}

Confidence numpy_confidence(Sample sample) {
  std::ranges::sort(sample.values);
  return {numpy_mean(sample), half_width(sample)};
}

double p_value(const std::vector<double>& differences, double found) {
  const auto beyond = std::ranges::count_if(differences, [&](double d) { return d > found; });
  return static_cast<double>(beyond + 1) / static_cast<double>(differences.size() + 1);
}

double bootstrap_p_value(const Sample& baseline, const Sample& system, double found) {
  Sample differences{{}, baseline.single && system.single};
  for (size_t i = 0; i < system.values.size(); ++i) {
    differences.values.push_back(
        std::abs(differences.rounded(system.values[i] - baseline.values[i])));
  }
  const double mean = numpy_mean(differences);
  for (double& value : differences.values) value = differences.rounded(value - mean);
  return p_value(differences.values, differences.rounded(found));
}

// The sums of both systems after their lines changed places where the coin says so.
struct Shuffled {
  std::vector<double> a, b;

  Shuffled(const LineStatistics& baseline, const LineStatistics& system, NumpyRandom& random)
      : a(baseline.width), b(baseline.width) {
    std::vector<double> a_of_system(baseline.width), b_of_system(baseline.width);
    for (size_t line = 0; line < baseline.lines(); ++line) {
      const bool stay = random.coin();
      std::vector<double>& from_baseline = stay ? a : b;
      std::vector<double>& from_system = stay ? b_of_system : a_of_system;
      const auto left = baseline.line(line), right = system.line(line);
      for (size_t i = 0; i < left.size(); ++i) from_baseline[i] += left[i];
      for (size_t i = 0; i < right.size(); ++i) from_system[i] += right[i];
    }
    std::ranges::transform(a, a_of_system, a.begin(), std::plus{});
    std::ranges::transform(b, b_of_system, b.begin(), std::plus{});
  }
};

double randomization_p_value(const Metric& metric, const LineStatistics& baseline,
                             const LineStatistics& system, double found, int64_t samples,
                             uint64_t seed) {
  NumpyRandom random(seed);
  std::vector<double> differences;
  for (int64_t s = 0; s < samples; ++s) {
    const Shuffled sums(baseline, system, random);
    differences.push_back(std::abs(metric.score(sums.a, Arithmetic::integer).value -
                                   metric.score(sums.b, Arithmetic::integer).value));
  }
  return p_value(differences, found);
}

}  // namespace

void check_seed(const std::string& seed) { seed_of({.seed = seed}); }

Confidence confidence_of(const Metric& metric, const LineStatistics& statistics,
                         const Resampling& resampling) {
  Sample sample = bootstrap(metric, statistics, resampling.samples, seed_of(resampling));
  std::ranges::sort(sample.values);
  const double sum = std::accumulate(sample.values.begin(), sample.values.end(), 0.0);
  return {sample.rounded(sum / static_cast<double>(sample.values.size())), half_width(sample)};
}

std::vector<Compared> compared(const Metric& metric, const std::vector<LineStatistics>& systems,
                               const Resampling& resampling) {
  const uint64_t seed = seed_of(resampling);
  const LineStatistics& baseline = systems.front();
  const bool bootstraps = resampling.kind == Resampling::Kind::bootstrap;
  Sample baseline_scores;
  std::vector<Compared> results;
  for (const LineStatistics& system : systems) {
    Compared& result = results.emplace_back();
    result.score = metric.score(system.sums(), Arithmetic::plain).value;
    const double found = std::abs(results.front().score - result.score);
    const bool is_baseline = results.size() == 1;
    if (bootstraps) {
      Sample scores = bootstrap(metric, system, resampling.samples, seed);
      if (is_baseline) {
        baseline_scores = scores;
      } else {
        result.p_value = bootstrap_p_value(baseline_scores, scores, found);
      }
      result.confidence = numpy_confidence(std::move(scores));
    } else if (!is_baseline) {
      result.p_value =
          randomization_p_value(metric, baseline, system, found, resampling.samples, seed);
    }
  }
  return results;
}

}  // namespace ballast
