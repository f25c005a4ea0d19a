#include "ballast/kernels/gathered_attention.h"

#include <gtest/gtest.h>

#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr double tolerance = 1e-5;

struct Case {
  int64_t sequences, keys, d_head;
  AttentionOptions options = {};
};

/// Rows of a cache of 37, some of them shared.
torch::Tensor table(const Case& c) {
  return (torch::arange(c.sequences * c.keys) * 11 % 37)
      .to(torch::kInt32)
      .view({c.sequences, c.keys});
}

std::vector<torch::Tensor> inputs(const Case& c) {
  const int64_t own = c.options.key_value_heads * c.d_head;
  return {drawn({c.sequences, c.options.heads * c.d_head}, 1), drawn({37, own}, 2),
          drawn({37, own}, 3)};
}

std::vector<Case> cases() {
  return {{1, 1, 8},
          {0, 3, 8},
          {3, 0, 8},
          {5, 7, 64, {.heads = 2, .key_value_heads = 2, .scale = 0.125}},
          {4, 33, 5, {.heads = 6, .key_value_heads = 3}},
          {2, 100, 17, {.heads = 4, .key_value_heads = 1, .scale = 0.3, .soft_cap = 2}}};
}

TEST(GatheredAttention, AgreesWithTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (size_t i = 0; i < cases().size(); ++i) {
      const Case c = cases()[i];
      const auto t = inputs(c);
      const auto in_double = [&](size_t k) { return t[k].to(torch::kFloat64); };
      const torch::Tensor fused = gathered_attention({t[0], t[1], t[2], table(c)}, c.options);
      const torch::Tensor reference = gathered_attention_reference(
          {in_double(0), in_double(1), in_double(2), table(c)}, c.options);
      EXPECT_LT(relative_error(fused, reference), tolerance) << i;
    }
  });
}

TEST(GatheredAttention, IsAttentionOfEachQueryToTheRowsOfItsTable) {
  const Case c{3, 9, 16, {.heads = 2, .key_value_heads = 2, .scale = 0.25}};
  const auto t = inputs(c);
  const torch::Tensor rows = table(c).flatten();
  const torch::Tensor key = t[1].index_select(0, rows), value = t[2].index_select(0, rows);
  const Segments queries = Segments::strided(3, 1, 1), keys = Segments::strided(3, 9, 9);
  EXPECT_LT(relative_error(gathered_attention({t[0], t[1], t[2], table(c)}, c.options),
                           attention_reference({t[0], key, value, queries, keys}, c.options)),
            tolerance);
}

TEST(GatheredAttention, TakesABiasForEachHeadAndKey) {
  on_every_target([] {
    const Case c{3, 19, 16, {.heads = 4, .key_value_heads = 2, .scale = 0.25, .soft_cap = 3}};
    const auto t = inputs(c);
    const torch::Tensor bias = drawn({4, 19}, 4);
    const torch::Tensor fused = gathered_attention({t[0], t[1], t[2], table(c), bias}, c.options);
    const auto in_double = [](const torch::Tensor& each) { return each.to(torch::kFloat64); };
    EXPECT_LT(relative_error(
                  fused, gathered_attention_reference({in_double(t[0]), in_double(t[1]),
                                                       in_double(t[2]), table(c), in_double(bias)},
                                                      c.options)),
              tolerance);
    EXPECT_GT(relative_error(fused, gathered_attention({t[0], t[1], t[2], table(c)}, c.options)),
              0.01);
  });
}

TEST(GatheredAttention, OfSequencesOfDifferentLengthsIsThatOfEachAlone) {
  const Case c{3, 900, 16, {.heads = 4, .key_value_heads = 2, .scale = 0.25}};
  const auto t = inputs(c);
  const torch::Tensor bias = drawn({4, 900}, 4), rows = table(c);
  const std::vector<int64_t> lengths{900, 1, 331};
  const torch::Tensor together =
      gathered_attention({t[0], t[1], t[2], rows, bias, lengths}, c.options);
  EXPECT_LT(relative_error(together, gathered_attention_reference(
                                         {t[0], t[1], t[2], rows, bias, lengths}, c.options)),
            tolerance);
  for (int64_t b = 0; b < 3; ++b) {
    const torch::Tensor alone = gathered_attention(
        {t[0].slice(0, b, b + 1), t[1], t[2], rows.slice(0, b, b + 1).slice(1, 0, lengths[b]),
         bias.slice(1, 900 - lengths[b])},
        c.options);
    EXPECT_TRUE(torch::equal(alone, together.slice(0, b, b + 1))) << b;
  }
}

TEST(GatheredAttention, PassesGradientsWhereTheyAreAskedFor) {
  const Case c{3, 9, 16, {.heads = 2, .key_value_heads = 2, .scale = 0.25}};
  const Kernel kernel = [&](const std::vector<torch::Tensor>& t) {
    return gathered_attention({t[0], t[1], t[2], table(c)}, c.options);
  };
  EXPECT_LT(finite_difference_error(kernel, inputs(c)), 1e-5);
}

}  // namespace
}  // namespace ballast
