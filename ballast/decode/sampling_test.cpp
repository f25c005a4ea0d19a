#include "ballast/decode/sampling.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ballast/decode/translate.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sum of squared deviations of counts from what the weights expect, in units of their variance.
double chi_square(const std::map<int64_t, int64_t>& counts, const std::vector<double>& weights) {
  double total = 0, draws = 0, sum = 0;
  for (const double weight : weights) total += weight;
  for (const auto& [token, count] : counts) draws += static_cast<double>(count);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto place = counts.find(static_cast<int64_t>(i));
    const double count = place == counts.end() ? 0 : static_cast<double>(place->second);
    const double expected = draws * weights[i] / total;
    if (expected == 0) {
      sum += count == 0 ? 0 : infinity;
    } else {
      sum += (count - expected) * (count - expected) / expected;
    }
  }
  return sum;
}

const std::vector<float> logits{0.5F, -1, 2, -std::numeric_limits<float>::infinity(), 1.5F, 0.4F};

std::map<int64_t, int64_t> drawn(const Cut& cut, int64_t count = 20000) {
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < count; ++i) {
    ++counts[draw(logits, cut, uniform_at({.sentence = i}, 7)).value()];
  }
  return counts;
}

// A chi-square of five degrees of freedom exceeds this once in a hundred thousand seeds.
constexpr double most_likely_below = 31;

TEST(Draw, FollowsTheSoftmaxAtEveryTemperature) {
  for (const double temperature : {0.5, 1.0, 3.0}) {
    std::vector<double> weights;
    for (const float logit : logits) weights.push_back(std::exp(logit / temperature));
    const auto counts = drawn({.temperature = temperature});
    EXPECT_LT(chi_square(counts, weights), most_likely_below) << temperature;
  }
}

TEST(Draw, TopKKeepsTheLikeliestAndTheirRatios) {
  const auto counts = drawn({.top_k = 3});
  EXPECT_LT(chi_square(counts, {std::exp(0.5), 0, std::exp(2.0), 0, std::exp(1.5), 0}),
            most_likely_below);
  EXPECT_EQ(drawn({.top_k = 100}, 500), drawn({}, 500));
}

TEST(Draw, TopPKeepsTheFewestThatReachIt) {
  // softmax: 0.107, 0.024, 0.480, 0, 0.291, 0.097; 2 and 4 have 0.77 together.
  EXPECT_LT(chi_square(drawn({.top_p = 0.7}), {0, 0, std::exp(2.0), 0, std::exp(1.5), 0}),
            most_likely_below);
  EXPECT_EQ(drawn({.top_p = 1e-9}, 50), (std::map<int64_t, int64_t>{{2, 50}}));
  EXPECT_LT(
      chi_square(drawn({.top_k = 2, .top_p = 0.99}), {0, 0, std::exp(2.0), 0, std::exp(1.5), 0}),
      most_likely_below);
}

TEST(Draw, ALowTemperatureIsTheLikeliestAndWhatIsNoNumberIsNotDrawn) {
  EXPECT_EQ(drawn({.temperature = 1e-3}, 100), (std::map<int64_t, int64_t>{{2, 100}}));
  using Logits = std::vector<float>;
  EXPECT_FALSE(draw(Logits{std::nanf(""), -INFINITY}, {}, 0.5));
  EXPECT_FALSE(draw(Logits{1, INFINITY}, {}, 0.5));
  EXPECT_EQ(draw(Logits{std::nanf(""), 1}, {}, 0.999), 1);
  EXPECT_EQ(draw(Logits{-INFINITY, 1, -INFINITY}, {}, 1 - 1e-16), 1);
  EXPECT_EQ(likeliest(Logits{std::nanf(""), -3, 2, 2}), 2);
  EXPECT_FALSE(likeliest(Logits{std::nanf(""), -INFINITY}));
}

TEST(Draw, MinPKeepsWhatHasAShareOfTheLikeliest) {
  // Relative to token 2: 0.223, 0.050, 1, 0, 0.607, 0.202.
  EXPECT_LT(
      chi_square(drawn({.min_p = 0.21}), {std::exp(0.5), 0, std::exp(2.0), 0, std::exp(1.5), 0}),
      most_likely_below);
  EXPECT_EQ(drawn({.min_p = 1}, 50), (std::map<int64_t, int64_t>{{2, 50}}));
  // The temperature comes first: at 2 the shares are the square roots.
  EXPECT_LT(chi_square(drawn({.temperature = 2, .min_p = 0.3}),
                       {std::exp(0.25), 0, std::exp(1.0), 0, std::exp(0.75), std::exp(0.2)}),
            most_likely_below);
}

TEST(Draw, TopPOfManyTokensNeedsNoFullSort) {
  std::vector<float> many(40000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>((i * 7919) % 40000) * 1e-5F;
  std::vector<std::pair<float, int64_t>> sorted;
  for (size_t i = 0; i < many.size(); ++i) sorted.emplace_back(-many[i], static_cast<int64_t>(i));
  std::sort(sorted.begin(), sorted.end());
  double sum = 0, wanted = 0;
  for (const float logit : many) sum += std::exp(static_cast<double>(logit));
  size_t kept = 0;
  while (wanted < 0.6 * sum) wanted += std::exp(-static_cast<double>(sorted[kept++].first));
  EXPECT_EQ(draw(many, {.top_p = 0.6}, 1e-9), sorted.front().second);
  EXPECT_EQ(draw(many, {.top_p = 0.6}, 1 - 1e-9), sorted[kept - 1].second);
}

TEST(Draw, EveryPlaceAndSeedHasANumberOfItsOwn) {
  EXPECT_EQ(uniform_at({1, 2, 3}, 4), uniform_at({1, 2, 3}, 4));
  for (const auto& [place, seed] : {std::pair{DrawPlace{2, 2, 3}, 4},
                                    {DrawPlace{1, 3, 3}, 4},
                                    {DrawPlace{1, 2, 4}, 4},
                                    {DrawPlace{1, 2, 3}, 5}}) {
    EXPECT_NE(uniform_at({1, 2, 3}, 4), uniform_at(place, seed));
  }
}

DecodeOptions sampling(const RandomSampling& options, int64_t batch_tokens = 4096) {
  return {.search = options, .beam = 1, .max_extra = 4, .batch_tokens = batch_tokens};
}

TEST(Sampling, FirstTokensOfManySamplesFollowTheModel) {
  const auto model = testing::toy_model(testing::toy_options(PreNorm{}));
  const Packed source = testing::toy_ids({4}, testing::toy_vocabulary, 1);
  const auto found = beam_search(*model, source, sampling({.samples = 4000}))[0];
  ASSERT_EQ(found.size(), 4000U);
  std::map<int64_t, int64_t> counts;
  for (const Hypothesis& each : found) ++counts[each.tokens.at(0)];
  const torch::NoGradGuard no_grad;
  DecodeState state = model->start(model->encode(source), 1);
  const torch::Tensor first = model->logits(model->step(torch::tensor({2}), state)).exp()[0];
  std::vector<double> weights;
  for (int64_t token = 0; token < first.size(0); ++token) {
    const bool allowed = token == 1 || token > 3;
    weights.push_back(allowed ? first[token].item<double>() : 0);
  }
  EXPECT_LT(chi_square(counts, weights), most_likely_below);
}

TEST(Sampling, IsTheSameForAnyThreadsAndBatchesAndAnotherForAnotherSeed) {
  const auto model = testing::toy_model(testing::toy_options(PreNorm{}));
  Sources sources;
  for (int64_t i = 0; i < 40; ++i) sources.emplace_back(2 + i * 7 % 13, 4 + i % 7);
  const int before = at::get_num_threads();
  const auto sampled = [&](int threads, int64_t batch_tokens, int64_t seed) {
    at::set_num_threads(threads);
    std::vector<std::vector<int64_t>> tokens;
    const auto options = sampling({.top_k = 6, .samples = 2, .seed = seed}, batch_tokens);
    for (const Hypotheses& found : translate(*model, sources, options)) {
      EXPECT_EQ(found.size(), 2U);
      for (const Hypothesis& each : found) tokens.push_back(each.tokens);
    }
    return tokens;
  };
  const auto wanted = sampled(1, 1'000'000, 1);
  EXPECT_EQ(sampled(2, 90, 1), wanted);
  EXPECT_EQ(sampled(3, 1, 1), wanted);
  EXPECT_NE(sampled(1, 1'000'000, 2), wanted);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace ballast
