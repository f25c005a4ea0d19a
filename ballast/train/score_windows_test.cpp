#include "ballast/train/score_windows.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::toy_vocabulary;
using Ids = std::vector<int64_t>;

std::shared_ptr<Transformer> language_model(uint64_t seed = 3) {
  ModelOptions options = testing::toy_options(PreNorm{});
  options.kind = ModelKind::causal_lm;
  auto model = testing::toy_model(options, seed);
  const torch::NoGradGuard no_grad;
  for (auto& each : model->parameters()) each.mul_(3);  // away from equal probabilities
  model->to(torch::kFloat64);
  return model;
}

Ids random_ids(int64_t count, uint64_t seed) {
  Ids ids{2};
  const torch::Tensor kept = testing::toy_ids({count}, toy_vocabulary, seed).tokens;
  const auto* drawn = kept.data_ptr<int64_t>();
  ids.insert(ids.end(), drawn, drawn + count);
  return ids;
}

/// log p [T, V] after each of the ids.
torch::Tensor log_probabilities(const Transformer& model, const Ids& read) {
  const torch::NoGradGuard no_grad;
  const Packed packed{torch::tensor(read, torch::kInt64), Segments::packed(Ids{std::ssize(read)})};
  return torch::log_softmax(model.logits(model.forward({}, packed)), -1);
}

TEST(SlidingWindows, ScoreEveryIdButTheFirstOnceWithEnoughBeforeIt) {
  for (int64_t count = 0; count < 24; ++count) {
    Ids ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    for (int64_t context = 1; context < 9; ++context) {
      for (int64_t stride = 1; stride <= context; ++stride) {
        std::vector<int64_t> scored;
        for (const Window& window : sliding_windows(ids, {context, stride})) {
          EXPECT_LE(std::ssize(window.ids), context + 1);
          for (int64_t i = std::ssize(window.ids) - window.scored; i < std::ssize(window.ids);
               ++i) {
            scored.push_back(window.ids[i]);
            EXPECT_GE(i, std::min(window.ids[i], context - stride + 1));
          }
        }
        Ids all(static_cast<size_t>(std::max<int64_t>(count - 1, 0)));
        std::iota(all.begin(), all.end(), 1);
        EXPECT_EQ(scored, all) << count << " " << context << " " << stride;
      }
    }
  }
}

// The loop of "Perplexity of fixed-length models" in the documentation of Hugging Face's
// transformers: which ids a window holds, and how many of them have a label (the very first id's is
// lost in the shift).
TEST(SlidingWindows, AreHuggingFaces) {
  constexpr int64_t count = 37, context = 10, stride = 4, max_length = context + 1;
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  const auto windows = sliding_windows(ids, {context, stride});
  size_t k = 0;
  int64_t previous_end = 0;
  for (int64_t begin = 0; begin < count; begin += stride, ++k) {
    const int64_t end = std::min(begin + max_length, count);
    ASSERT_LT(k, windows.size());
    EXPECT_EQ(windows[k].ids.front(), begin);
    EXPECT_EQ(windows[k].ids.back(), end - 1);
    EXPECT_EQ(windows[k].scored, end - previous_end - (begin == 0 ? 1 : 0));
    previous_end = end;
    if (end == count) break;
  }
  EXPECT_EQ(k + 1, windows.size());
}

TEST(ScoreWindows, TargetsAreTheNextIdsShiftedOnce) {
  const auto model = language_model();
  const Ids ids = random_ids(9, 5);
  const torch::Tensor log_p = log_probabilities(*model, Ids(ids.begin(), ids.end() - 1));
  for (int64_t scored = 1; scored < std::ssize(ids); ++scored) {
    double expected = 0;
    bool greedy = true;
    for (int64_t i = std::ssize(ids) - scored; i < std::ssize(ids); ++i) {
      expected += log_p[i - 1][ids[i]].item<double>();
      greedy &= log_p[i - 1].argmax().item<int64_t>() == ids[i];
    }
    const std::vector<Window> one{{ids, scored}};
    const WindowScore found = score_windows(*model, one, {.greedy = true}).windows.front();
    EXPECT_NEAR(found.log_probability, expected, 1e-10);
    EXPECT_EQ(found.tokens, scored);
    EXPECT_EQ(found.greedy, greedy);
  }
}

TEST(ScoreWindows, ALaterIdChangesNoEarlierLogit) {
  const auto model = language_model();
  Ids ids = random_ids(12, 8);
  const torch::Tensor before = log_probabilities(*model, ids);
  for (size_t changed = 1; changed < ids.size(); ++changed) {
    Ids other = ids;
    other[changed] = other[changed] == 4 ? 5 : 4;
    const torch::Tensor after = log_probabilities(*model, other);
    const auto rows = static_cast<int64_t>(changed);
    EXPECT_TRUE(torch::equal(before.slice(0, 0, rows), after.slice(0, 0, rows))) << changed;
    EXPECT_FALSE(torch::equal(before[rows], after[rows])) << changed;
  }
}

TEST(ScoreWindows, GreedyIsWhatGreedyDecodingGives) {
  const auto model = language_model();
  Ids ids = random_ids(3, 6);
  const size_t given = ids.size();
  for (int i = 0; i < 5; ++i) {
    ids.push_back(log_probabilities(*model, ids)[std::ssize(ids) - 1].argmax().item<int64_t>());
  }
  const auto scored = static_cast<int64_t>(ids.size() - given);
  Ids other = ids;
  other[given + 2] = (other[given + 2] + 1) % toy_vocabulary;
  const std::vector<Window> windows{{ids, scored}, {other, scored}};
  const auto found = score_windows(*model, windows, {.greedy = true}).windows;
  EXPECT_TRUE(found[0].greedy);
  EXPECT_FALSE(found[1].greedy);
}

TEST(ScoreWindows, DoNotDependOnBatchesAndThreads) {
  const auto model = language_model();
  std::vector<Ids> texts;
  for (int64_t i = 0; i < 40; ++i) texts.push_back(random_ids(1 + (i * 7) % 19, 20 + i));
  std::vector<Window> windows;
  for (const Ids& text : texts) windows.push_back({text, (std::ssize(text) + 1) / 2});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const WindowScores alone = score_windows(*model, windows, {.batch_tokens = 1});
  for (const int used : {1, 2}) {
    at::set_num_threads(used);
    for (const int64_t tokens : {17, 100, 4096}) {
      const WindowScores found = score_windows(*model, windows, {.batch_tokens = tokens});
      EXPECT_NEAR(found.loss, alone.loss, 1e-12 * alone.loss);
      for (size_t i = 0; i < windows.size(); ++i) {
        EXPECT_EQ(found.windows[i].tokens, windows[i].scored);
        EXPECT_NEAR(found.windows[i].log_probability, alone.windows[i].log_probability,
                    -1e-12 * alone.windows[i].log_probability);
      }
    }
  }
  at::set_num_threads(threads);
}

TEST(ScoreWindows, NothingToScoreIsNoWork) {
  const auto model = language_model();
  EXPECT_TRUE(sliding_windows(Ids{}, {}).empty());
  EXPECT_TRUE(sliding_windows(Ids{2}, {}).empty());
  const WindowScores found = score_windows(*model, {}, {});
  EXPECT_EQ(found.loss, 0);
  EXPECT_TRUE(found.windows.empty());
  const Ids ids{2, 5};
  const std::vector<Window> windows{{ids, 0}, {Ids{}, 0}};
  EXPECT_EQ(score_windows(*model, windows, {}).windows[0].tokens, 0);
}

}  // namespace
}  // namespace ballast
