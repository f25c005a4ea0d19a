// What a query may not see has no influence on it, whatever it holds, nor it on that.
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <array>
#include <limits>
#include <string>

#include "ballast/kernels/attention.h"
#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

using Tensors = std::vector<torch::Tensor>;
using Version = torch::Tensor (*)(const AttentionInputs&, const AttentionOptions&);

constexpr int64_t d_head = 8, reach = 3;
constexpr double endless[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()};

std::vector<AttentionOptions> all_options() {
  return {{.heads = 2, .key_value_heads = 2, .scale = 0.3, .causal = true},
          {.heads = 4,
           .key_value_heads = 2,
           .scale = 0.3,
           .causal = true,
           .soft_cap = 2,
           .dropout = {0.3, 7}}};
}

/// Query, key, value, a bias for distances, and what the result is multiplied by.
Tensors inputs(const AttentionOptions& options, int64_t queries, int64_t keys) {
  const int64_t own = options.key_value_heads * d_head, all = options.heads * d_head;
  return {drawn({queries, all}, 1), drawn({keys, own}, 2), drawn({keys, own}, 3),
          drawn({options.heads, 2 * reach + 1}, 4), torch::ones({queries, all})};
}

Tensors passed(Version version, const AttentionOptions& options, const Tensors& at,
               const std::vector<int64_t>& queries, const std::vector<int64_t>& keys) {
  const Segments q = Segments::packed(queries), k = Segments::packed(keys);
  return with_gradients(
      [&](const Tensors& t) {
        return version({t[0], t[1], t[2], q, k, t[3]}, options) * t[4].detach();
      },
      at);
}

/// Copies in which `row` of the named tensors holds one value.
Tensors spoiled(const Tensors& inputs, std::initializer_list<int> which, int64_t row,
                double value) {
  Tensors all;
  for (const torch::Tensor& each : inputs) all.push_back(each.clone());
  for (const int each : which) all[each][row].fill_(value);
  return all;
}

void expect_equal_rows(const Tensors& a, const Tensors& b, std::initializer_list<int> which,
                       int64_t first, int64_t last) {
  for (const int each : which) {
    EXPECT_TRUE(a[each].slice(0, first, last).equal(b[each].slice(0, first, last))) << each;
  }
}

template <class Body>
void for_both_versions(const Body& body) {
  for (const Version version : {&attention, &attention_reference}) {
    for (const AttentionOptions& options : all_options()) {
      for (const double value : endless) {
        const ::testing::ScopedTrace trace(
            __FILE__, __LINE__,
            std::string(version == &attention ? "fused " : "reference ") +
                std::to_string(options.heads) + " heads, " + std::to_string(value));
        body(version, options, value);
      }
    }
  }
}

enum Of { result, query, key, value, bias };  // of `passed`

const std::vector<int64_t> lengths{5, 70, 9};
constexpr int64_t tokens = 84, begin = 5, spot = 36, end = 75;  // the spot lies in the second

TEST(Masked, ALaterTokenReachesNoEarlierOneAndNoOtherSequence) {
  on_every_target([] {
    for_both_versions([](Version version, const AttentionOptions& options, double held) {
      const Tensors clean = inputs(options, tokens, tokens);
      const Tensors before = passed(version, options, clean, lengths, lengths);
      const Tensors after =
          passed(version, options, spoiled(clean, {0, 1, 2}, spot, held), lengths, lengths);
      expect_equal_rows(before, after, {result, query}, 0, spot);
      expect_equal_rows(before, after, {key, value}, 0, begin);
      expect_equal_rows(before, after, {result, query, key, value}, end, tokens);
      EXPECT_TRUE(after[result][spot].isnan().any().item<bool>());
      const torch::Tensor of_later_keys = after[bias].slice(1, reach + 1);
      EXPECT_TRUE(of_later_keys.equal(torch::zeros_like(of_later_keys)));
    });
  });
}

TEST(Masked, AnEarlierQueryReachesTheGradientOfNoLaterKey) {
  on_every_target([] {
    for_both_versions([](Version version, const AttentionOptions& options, double held) {
      const Tensors clean = inputs(options, tokens, tokens);
      const Tensors before = passed(version, options, clean, lengths, lengths);
      for (const int which : {0, 4}) {  // the query itself, or the gradient of its result
        const Tensors after =
            passed(version, options, spoiled(clean, {which}, spot, held), lengths, lengths);
        expect_equal_rows(before, after, {key, value}, 0, begin);
        expect_equal_rows(before, after, {key, value}, spot + 1, tokens);
        expect_equal_rows(before, after, {query}, 0, spot);
        expect_equal_rows(before, after, {query}, spot + 1, tokens);
        EXPECT_TRUE(after[key][spot].isnan().any().item<bool>());
      }
    });
  });
}

/// Row 0 is also what the reference fills short sequences up with.
TEST(Masked, AKeyOfAnotherSequenceReachesNoQuery) {
  on_every_target([] {
    for_both_versions([](Version version, AttentionOptions options, double held) {
      options.causal = false;
      const std::vector<int64_t> queries{3, 2, 4, 1}, keys{5, 9, 2, 0};
      const Tensors clean = inputs(options, 10, 16);
      const Tensors before = passed(version, options, clean, queries, keys);
      const Tensors after =
          passed(version, options, spoiled(clean, {1, 2}, 0, held), queries, keys);
      expect_equal_rows(before, after, {result, query}, 3, 10);
      expect_equal_rows(before, after, {key, value}, 5, 16);
      EXPECT_TRUE(after[result][0].isnan().any().item<bool>());
    });
  });
}

/// Nor does what a query that sees nothing holds.
TEST(Masked, AQueryWithoutKeysGivesZerosWhateverItHolds) {
  for_both_versions([](Version version, const AttentionOptions& options, double held) {
    const Tensors clean = spoiled(inputs(options, 3, 1), {0}, 0, held);
    const Tensors all = passed(version, options, clean, {3}, {1});
    EXPECT_TRUE(all[result].slice(0, 0, 2).equal(torch::zeros_like(all[result].slice(0, 0, 2))));
    for (const int each : {result, query, key, value}) {
      EXPECT_TRUE(all[each].isfinite().all().item<bool>()) << each;
    }
  });
}

TEST(AttentionReference, HasASecondDerivative) {
  const AttentionOptions options{.heads = 2, .key_value_heads = 1, .causal = true};
  const Segments segments = Segments::packed(std::array<int64_t, 2>{3, 5});
  const Kernel slope = [&](const Tensors& t) {
    for (const torch::Tensor& each : t) each.requires_grad_();
    const torch::Tensor y = attention_reference({t[0], t[1], t[2], segments, segments}, options);
    const Tensors gradients = torch::autograd::grad({y.square().sum()}, {t[0], t[1], t[2]}, {},
                                                    /*retain_graph=*/true, /*create_graph=*/true);
    return torch::cat({gradients[0], gradients[1], gradients[2]}, 1);
  };
  EXPECT_LT(finite_difference_error(slope, {drawn({8, 8}, 1), drawn({8, 4}, 2), drawn({8, 4}, 3)}),
            1e-5);
}

}  // namespace
}  // namespace ballast
