#include "ballast/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/kernels/comparison.h"
#include "ballast/kernels/gathered_attention.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5;

struct Case {
  std::vector<int64_t> queries, keys;
  int64_t d_head = 8;
  AttentionOptions options = {};
  int64_t reach = -1;  ///< R of a relative bias; none below 0
};

AttentionOptions options_of(const Case& c) {
  AttentionOptions options = c.options;
  options.scale = 1 / std::sqrt(static_cast<double>(c.d_head));
  return options;
}

using Version = torch::Tensor (*)(const AttentionInputs&, const AttentionOptions&);

Kernel kernel(Version version, const Case& c) {
  return [=](const std::vector<torch::Tensor>& t) {
    const Segments queries = Segments::packed(c.queries), keys = Segments::packed(c.keys);
    const torch::Tensor bias = c.reach < 0 ? torch::Tensor() : t[3];
    return version({t[0], t[1], t[2], queries, keys, bias}, options_of(c));
  };
}

std::vector<torch::Tensor> inputs(const Case& c) {
  const int64_t n_q = Segments::packed(c.queries).tokens();
  const int64_t n_k = Segments::packed(c.keys).tokens();
  const int64_t own = c.options.key_value_heads * c.d_head;
  std::vector<torch::Tensor> all{drawn({n_q, c.options.heads * c.d_head}, 1), drawn({n_k, own}, 2),
                                 drawn({n_k, own}, 3)};
  if (c.reach >= 0) all.push_back(drawn({c.options.heads, 2 * c.reach + 1}, 4));
  return all;
}

double error(const Case& c) {
  return error_against_reference(kernel(attention, c), kernel(attention_reference, c), inputs(c));
}

std::vector<Case> cases() {
  return {
      {{1}, {1}},
      {{5, 1, 13}, {5, 1, 13}, 8, {.heads = 2, .key_value_heads = 2, .causal = true}},
      {{7, 3, 0, 2}, {9, 17, 4, 1}, 16, {.heads = 4, .key_value_heads = 2}},
      {{70, 61}, {70, 61}, 5, {.heads = 3, .key_value_heads = 1, .causal = true}},
      {{2, 9}, {40, 9}, 12, {.heads = 2, .key_value_heads = 2, .causal = true, .soft_cap = 3}},
      {{20, 33}, {31, 8}, 33, {.heads = 2, .key_value_heads = 1, .dropout = {0.2, 77}}},
      {{15, 64},
       {15, 64},
       16,
       {.heads = 4, .key_value_heads = 2, .causal = true, .soft_cap = 5, .dropout = {0.4, 5}}},
      {{1, 1, 1}, {50, 3, 20}, 16, {.heads = 2, .key_value_heads = 2}},
      {{7, 3, 0, 2}, {9, 17, 4, 1}, 16, {.heads = 4, .key_value_heads = 2}, 5},
      {{30, 1, 61}, {30, 1, 61}, 8, {.heads = 2, .key_value_heads = 1, .causal = true}, 1},
      {{15, 64},
       {15, 64},
       16,
       {.heads = 4, .key_value_heads = 2, .causal = true, .soft_cap = 5, .dropout = {0.4, 5}},
       80},
  };
}

TEST(Attention, AgreesWithTheReferenceInAllFormsOnEveryInstructionSet) {
  on_every_target([] {
    for (size_t i = 0; i < cases().size(); ++i) EXPECT_LT(error(cases()[i]), tolerance) << i;
  });
}

/// Value, query and key beside each other, and three columns that nobody reads.
TEST(Attention, ReadsColumnsOfWiderRowsAndGivesTheirGradientWhole) {
  const Segments segments = Segments::packed(std::array<int64_t, 3>{9, 1, 30});
  const AttentionOptions options{.heads = 4, .key_value_heads = 2, .causal = true};
  const auto of_one = [&](Version version) -> Kernel {
    return [=](const std::vector<torch::Tensor>& t) {
      return version({{t[0], 16, 32}, {t[0], 48, 16}, {t[0], 0, 16}, segments, segments}, options);
    };
  };
  const auto of_two = [&](Version version) -> Kernel {
    return [=](const std::vector<torch::Tensor>& t) {
      return version({t[0], {t[1], 0, 16}, {t[1], 16, 16}, segments, segments}, options);
    };
  };
  EXPECT_LT(
      error_against_reference(of_one(attention), of_one(attention_reference), {drawn({40, 67}, 1)}),
      tolerance);
  EXPECT_LT(error_against_reference(of_two(attention), of_two(attention_reference),
                                    {drawn({40, 32}, 1), drawn({40, 32}, 2)}),
            tolerance);
}

TEST(Attention, AddsTheGradientsOfColumnsThatAreReadTwice) {
  const Segments segments = Segments::packed(std::array<int64_t, 2>{9, 20});
  const AttentionOptions options{.heads = 2, .key_value_heads = 2};
  const auto of = [&](Version version) -> Kernel {
    return [=](const std::vector<torch::Tensor>& t) {
      const torch::Tensor& x = t[0];
      return version({x, x, {t[1], 0, 16}, segments, segments}, options) +
             version({{t[1], 0, 16}, {t[1], 8, 16}, {t[1], 8, 16}, segments, segments}, options);
    };
  };
  EXPECT_LT(error_against_reference(of(attention), of(attention_reference),
                                    {drawn({29, 16}, 1), drawn({29, 24}, 2)}),
            tolerance);
}

TEST(Attention, AgreesOnLongRowsThatTakeSeveralBlocksOfQueries) {
  EXPECT_LT(error({{400}, {400}, 16, {.heads = 2, .key_value_heads = 2, .causal = true}}),
            tolerance);
}

TEST(Attention, DoesNotDependOnRunOrThreads) {
  const Case c{{31, 7, 50, 22, 1},
               {31, 7, 50, 22, 1},
               16,
               {.heads = 4, .key_value_heads = 2, .causal = true, .dropout = {0.1, 3}}};
  EXPECT_TRUE(repeats_bit_for_bit(kernel(attention, c), inputs(c)));
  EXPECT_TRUE(same_for_any_threads(kernel(attention, c), inputs(c)));
}

TEST(Attention, KeepsNotANumberWithAndWithoutASoftCap) {
  on_every_target([] {
    const Segments segments = Segments::packed(std::array<int64_t, 1>{3});
    const torch::Tensor query = torch::full({3, 8}, std::nan("")), ones = torch::ones({3, 8});
    for (const double soft_cap : {0, 2}) {
      const torch::Tensor y = attention({query, ones, ones, segments, segments},
                                        {.heads = 2, .key_value_heads = 2, .soft_cap = soft_cap});
      EXPECT_TRUE(y.isnan().all().item<bool>()) << soft_cap;
    }
  });
}

TEST(AttentionReference, HasTheGradientsOfFiniteDifferences) {
  for (const Case& c : cases()) {
    EXPECT_LT(finite_difference_error(kernel(attention_reference, c), inputs(c)), 1e-5);
  }
}

/// Keys that are all zero leave the bias alone to decide, and one-hot values show where it went.
TEST(Attention, RelativeBiasIsThatOfTheDistanceAndOfItsBorderBeyond) {
  const float far = std::log(3.0F), same = std::log(5.0F), next = std::log(7.0F);
  const torch::Tensor bias = torch::tensor({{far, same, next}}), zero = torch::zeros({4, 4});
  const Segments all = Segments::packed(std::array<int64_t, 1>{4});
  const torch::Tensor wanted =
      torch::tensor({{5., 7., 7., 7.}, {3., 5., 7., 7.}, {3., 3., 5., 7.}, {3., 3., 3., 5.}});
  for (const Version version : {&attention, &attention_reference}) {
    const torch::Tensor y = version({zero, zero, torch::eye(4), all, all, bias}, {});
    EXPECT_LT(relative_error(y, wanted / wanted.sum(1, true)), tolerance);
  }
}

/// Products 10, -20 and 3, capped at 5, seen through one-hot values.
TEST(Attention, ASoftCapIsCTimesTanhOfTheLogitOverC) {
  const Segments one = Segments::packed(std::array<int64_t, 1>{1});
  const Segments three = Segments::packed(std::array<int64_t, 1>{3});
  const torch::Tensor query = torch::tensor({{2.F, 0.F, 0.F}});
  const torch::Tensor key = torch::tensor({{5.F, 1.F, 1.F}, {-10.F, 1.F, 1.F}, {1.5F, 1.F, 1.F}});
  const auto capped = [](double logit) { return std::exp(5 * std::tanh(logit / 5)); };
  const torch::Tensor weights = torch::tensor({{capped(10), capped(-20), capped(3)}});
  const torch::Tensor wanted = weights / weights.sum();
  for (const Version version : {&attention, &attention_reference}) {
    const torch::Tensor y = version({query, key, torch::eye(3), one, three}, {.soft_cap = 5});
    EXPECT_LT(relative_error(y, wanted), tolerance);
  }
  const torch::Tensor rows = torch::arange(3, torch::kInt32).view({1, 3});
  EXPECT_LT(relative_error(gathered_attention({query, key, torch::eye(3), rows}, {.soft_cap = 5}),
                           wanted),
            tolerance);
}

// C09: causal with 3 queries and 1 key, so that the first two queries see nothing.
TEST(Attention, C09FullyMaskedRowsGiveZerosAndPassNoGradient) {
  const Case c{{3}, {1}, 4, {.causal = true}};
  for (const Version version : {&attention, &attention_reference}) {
    const auto all = with_gradients(kernel(version, c), inputs(c));
    EXPECT_TRUE(all[0].slice(0, 0, 2).equal(torch::zeros({2, 4})));
    EXPECT_TRUE(all[1].equal(torch::zeros({3, 4})));
    for (const torch::Tensor& t : all) EXPECT_TRUE(t.isfinite().all().item<bool>());
  }
}

TEST(Attention, GivesZerosForSequencesWithoutKeys) {
  const Case c{{2, 3}, {0, 2}, 4};
  const auto all = with_gradients(kernel(attention, c), inputs(c));
  EXPECT_TRUE(all[0].slice(0, 0, 2).equal(torch::zeros({2, 4})));
  EXPECT_LT(error(c), tolerance);
}

/// What is freed here is given to the next tensors of the size.
void leave_nan_behind(const torch::Tensor& like) {
  std::vector<torch::Tensor> all;
  for (int i = 0; i < 32; ++i) all.push_back(torch::full_like(like, std::nan("")));
}

TEST(Attention, GivesNoGradientFromMemoryThatWasNotWritten) {
  const Segments few = Segments::strided(2, 5, 3), more = Segments::strided(2, 6, 4);
  const Segments blind = Segments::packed(std::array<int64_t, 3>{3, 0, 7});
  const Segments seen = Segments::packed(std::array<int64_t, 3>{0, 4, 8});
  const std::vector<torch::Tensor> all{drawn({10, 4}, 1), drawn({12, 4}, 2), drawn({12, 7}, 3)};
  for (const auto& [queries, keys] : {std::pair(few, more), {blind, seen}}) {
    const Kernel kernel = [q = queries, k = keys](const auto& t) {
      return attention({t[0], t[1], {t[2], 0, 4}, q, k}, {});
    };
    const auto before = with_gradients(kernel, all);
    for (const torch::Tensor& t : before) leave_nan_behind(t);
    const auto again = with_gradients(kernel, all);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(again[i].equal(before[i])) << i;
  }
}

TEST(Attention, LeavesRowsOutsideEverySequenceAtZero) {
  const torch::Tensor q = drawn({10, 4}, 1), k = drawn({12, 4}, 2), v = drawn({12, 4}, 3);
  const Segments queries = Segments::strided(2, 5, 3), keys = Segments::strided(2, 6, 4);
  const torch::Tensor y = attention({q, k, v, queries, keys}, {});
  EXPECT_LT(relative_error(y, attention_reference({q, k, v, queries, keys}, {})), tolerance);
  EXPECT_TRUE(y.slice(0, 3, 5).equal(torch::zeros({2, 4})));
}

/// Both sequences attend to the same keys, as hypotheses of a beam do.
TEST(Attention, AddsTheGradientsOfSequencesThatShareKeys) {
  const Segments queries = Segments::packed(std::array<int64_t, 2>{3, 3});
  const Segments keys = Segments::strided(2, 0, 4);
  const auto shared = [&](Version version) -> Kernel {
    return [&, version](const auto& t) { return version({t[0], t[1], t[2], queries, keys}, {}); };
  };
  EXPECT_LT(error_against_reference(shared(attention), shared(attention_reference),
                                    {drawn({6, 8}, 1), drawn({4, 8}, 2), drawn({4, 8}, 3)}),
            tolerance);
}

}  // namespace
}  // namespace ballast
