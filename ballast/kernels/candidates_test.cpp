#include "ballast/kernels/candidates.h"

#include <gtest/gtest.h>

#include <limits>

#include "ballast/kernels/comparison.h"

namespace ballast {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Case {
  std::vector<int64_t> groups;
  int64_t columns, count;
  std::vector<int64_t> excluded = {};
  std::vector<std::vector<int64_t>> forbidden = {};  // of single rows
};

std::vector<Case> cases() {
  return {{{}, 5, 2},
          {{1}, 1, 1},
          {{2, 0, 3}, 7, 4, {0, 2}},
          {{4, 4, 1}, 1000, 8, {0, 2, 999}},
          {{3}, 8193, 40, {5}},
          {{1, 2}, 3, 10, {1}},
          {{1, 2}, 9, 5, {1}, {{}, {0, 3, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8}}}};
}

std::vector<float> offsets_of(int64_t rows) {
  std::vector<float> offsets;
  for (int64_t row = 0; row < rows; ++row) offsets.push_back(static_cast<float>(row % 3) * -0.4F);
  return offsets;
}

std::vector<std::vector<Candidate>> searched(const Case& c, const torch::Tensor& logits,
                                             decltype(&best_candidates) version) {
  const Segments groups = Segments::packed(c.groups);
  const std::vector<float> offsets = offsets_of(groups.tokens());
  return version({logits, offsets, groups, c.excluded, c.count, c.forbidden});
}

void expect_equal(const std::vector<Candidate>& found, const std::vector<Candidate>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].row, wanted[i].row);
    EXPECT_EQ(found[i].token, wanted[i].token);
    EXPECT_EQ(found[i].score, wanted[i].score);
  }
}

TEST(BestCandidates, AreThoseOfTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const Case& c : cases()) {
      const torch::Tensor logits = drawn({Segments::packed(c.groups).tokens(), c.columns}, 4);
      const auto found = searched(c, logits, best_candidates);
      const auto wanted = searched(c, logits, best_candidates_reference);
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t g = 0; g < found.size(); ++g) expect_equal(found[g], wanted[g]);
    }
  });
}

TEST(BestCandidates, OfEqualOnesTheFirstAreTaken) {
  on_every_target([] {
    const torch::Tensor logits = torch::zeros({2, 50});
    logits[1][17] = 1;
    const Segments groups = Segments::strided(1, 2, 2);
    const std::vector<float> offsets{0, 0};
    const std::vector<int64_t> excluded{0};
    const auto found = best_candidates({logits, offsets, groups, excluded, 3})[0];
    expect_equal(found, {{1, 17, 1}, {0, 1, 0}, {0, 2, 0}});
  });
}

TEST(BestCandidates, WhatIsNoNumberOrImpossibleIsNoCandidate) {
  const torch::Tensor logits = torch::full({1, 20}, -infinity);
  logits[0][3] = std::numeric_limits<float>::quiet_NaN();
  logits[0][11] = -5;
  const Segments groups = Segments::strided(1, 1, 1);
  const std::vector<float> offsets{0};
  expect_equal(best_candidates({logits, offsets, groups, {}, 4})[0], {{0, 11, -5}});
}

TEST(LogNormalizers, AreThoseOfTheReferenceOnEveryInstructionSet) {
  on_every_target([] {
    for (const int64_t columns : {1, 7, 64, 1025, 8000}) {
      const torch::Tensor logits = drawn({11, columns}, 5) * 3 - 100;
      const auto found = log_normalizers(logits), wanted = log_normalizers_reference(logits);
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 2e-5);
    }
  });
}

TEST(LogNormalizers, DoNotOverflowAndLeaveOutImpossibleClasses) {
  const torch::Tensor logits = torch::tensor({{1e30F, -infinity, 1e30F}});
  EXPECT_FLOAT_EQ(static_cast<float>(log_normalizers(logits)[0]), 1e30F);
  EXPECT_TRUE(log_normalizers(torch::empty({0, 4})).empty());
}

}  // namespace
}  // namespace ballast
