#include "ballast/metrics/significance.h"

#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/metrics/bleu.h"
#include "ballast/metrics/chrf.h"
#include "ballast/metrics/ter.h"

namespace ballast {
namespace {

using Lines = std::vector<std::string>;
using Kind = Resampling::Kind;

const Lines system_a{"the cat sat on a mat", "it was here", "he reads a book"};
const Lines system_b{"a cat sat on the mat", "here it is", "he read the book"};
const std::vector<Lines> references{{"the cat sat on the mat", "it is here", "he reads the book"}};

std::vector<Compared> comparison(const Metric& metric, const Resampling& resampling) {
  return compared(
      metric, {metric.statistics(system_a, references), metric.statistics(system_b, references)},
      resampling);
}

void expect_confidence(const Metric& metric, const Confidence& wanted) {
  const Confidence found = confidence_of(metric, metric.statistics(system_a, references), {});
  EXPECT_NEAR(found.mean, wanted.mean, 1e-9) << metric.name;
  EXPECT_NEAR(found.half_width, wanted.half_width, 1e-9) << metric.name;
}

// Expected values of this file: sacreBLEU 2.6.0 with numpy 2.4.6. chrF's and TER's are float32.
TEST(Significance, ConfidenceIsSacrebleus) {
  expect_confidence(bleu_metric(), {35.572528463408815, 26.864248244349056});
  expect_confidence(chrf_metric(), {56.48263931274414, 10.863479614257812});
  expect_confidence(ter_metric(), {23.848310470581055, 8.333333969116211});
}

TEST(Significance, PairedBootstrapIsSacrebleus) {
  const auto results = comparison(bleu_metric(), {.samples = 300});
  EXPECT_FALSE(results[0].p_value.has_value());
  EXPECT_NEAR(results[0].score, 38.50322886878713, 1e-9);
  EXPECT_NEAR(results[0].confidence.value().mean, 35.48567954493335, 1e-9);
  EXPECT_NEAR(results[1].score, 57.43127402791663, 1e-9);
  EXPECT_NEAR(results[1].confidence.value().mean, 51.46322523308782, 1e-9);
  EXPECT_NEAR(results[1].confidence.value().half_width, 37.991784210116045, 1e-9);
  EXPECT_NEAR(results[1].p_value.value(), 1.0 / 301, 1e-12);
}

TEST(Significance, NoDifferenceIsBeyondChanceForASystemAgainstItself) {
  const Metric metric = chrf_metric();
  const LineStatistics statistics = metric.statistics(system_a, references);
  for (const Kind kind : {Kind::bootstrap, Kind::approximate_randomization}) {
    const auto results = compared(metric, {statistics, statistics}, {.kind = kind, .samples = 50});
    EXPECT_NEAR(results[1].p_value.value(), 1.0 / 51, 1e-12);
  }
}

TEST(Significance, RandomizationGivesNoInterval) {
  const auto results =
      comparison(bleu_metric(), {.kind = Kind::approximate_randomization, .samples = 300});
  EXPECT_FALSE(results[1].confidence.has_value());
  EXPECT_NEAR(results[1].p_value.value(), 1.0 / 301, 1e-12);
}

TEST(Significance, AnotherSeedDrawsOtherSamples) {
  const Metric metric = chrf_metric();
  const LineStatistics statistics = metric.statistics(system_a, references);
  const auto mean = [&](const std::string& seed) {
    return confidence_of(metric, statistics, {.samples = 100, .seed = seed}).mean;
  };
  EXPECT_EQ(mean("1"), mean("1"));
  EXPECT_NE(mean("1"), mean("2"));
}

TEST(Significance, SeedsThatAreNoneAreRefused) {
  for (const char* seed : {"", "-1", "1.5", "x", "18446744073709551616"}) {
    EXPECT_THROW(check_seed(seed), RecipeError) << seed;
  }
  for (const char* seed : {"0", "18446744073709551615", "none"}) {
    EXPECT_NO_THROW(check_seed(seed)) << seed;
  }
}

}  // namespace
}  // namespace ballast
