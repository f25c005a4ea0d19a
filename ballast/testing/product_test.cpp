#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ballast/kernels/cross_entropy.h"
#include "ballast/model/contradictions.h"
#include "ballast/optim/optimizer.h"
#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"
#include "ballast/values/fold.h"
#include "ballast/values/foldable.h"

namespace ballast {
namespace {

constexpr int64_t letters = 28;  // end of a sentence, blank and a to z

enum class Zero { first, last };

/// The sentences of a text, letter by letter, with a 0 at one end.
Packed letters_of(std::string_view text, Zero zero) {
  std::vector<int64_t> ids, lengths;
  for (size_t begin = 0, end = 0; (end = text.find('.', begin)) != text.npos; begin = end + 1) {
    if (zero == Zero::first) ids.push_back(0);
    for (const char letter : text.substr(begin, end - begin)) {
      ids.push_back(letter == ' ' ? 1 : std::tolower(letter) - 'a' + 2);
    }
    if (zero == Zero::last) ids.push_back(0);
    lengths.push_back(static_cast<int64_t>(end - begin) + 1);
  }
  return {torch::tensor(ids), Segments::packed(lengths)};
}

// Goethe, and a free translation.
constexpr std::string_view german =
    "Kennst du das Land wo die Zitronen bluehn."
    "Im dunkeln Laub die Goldorangen gluehn."
    "Ein sanfter Wind vom blauen Himmel weht.";
constexpr std::string_view english =
    "Knowst thou the land where lemon trees do bloom."
    "And oranges like gold in leafy gloom."
    "A gentle wind from deep blue heaven blows.";

const Packed source = letters_of(german, Zero::last), target = letters_of(english, Zero::first);
const torch::Tensor next = letters_of(english, Zero::last).tokens;

/// Loss per letter before the first of ten updates and after the last.
std::pair<double, double> trained(Transformer& model, const Packed& given) {
  Plan planned = plan(model, {.init = Fairseq{}});
  parameterize(planned);
  initialize(planned, 1);
  calibrate(model, given, target);
  const Adam rule{.lr = 3e-3};
  Optimizer optimizer(rule, optimized(planned));
  std::vector<double> losses;
  for (int step = 0; step <= 10; ++step) {
    model.context().step = step;
    const torch::Tensor hidden = model.forward(given, target);
    const torch::Tensor loss = cross_entropy(model.output->against(hidden, next), {}).loss;
    losses.push_back(loss.item<double>() / static_cast<double>(next.numel()));
    loss.backward();
    optimizer.step(rule.lr, 1 / static_cast<double>(next.numel()));
    optimizer.clear_gradients();
  }
  return {losses.front(), losses.back()};
}

void check_fold(Transformer& model, const Packed& given) {
  if (!refusal_to_fold(model.options()).empty()) return;
  const torch::NoGradGuard no_grad;
  model.to(torch::kDouble);
  model.eval();
  const auto plain = fold(model);
  const torch::Tensor before = model.logits(model.forward(given, target));
  const torch::Tensor after = plain->logits(plain->forward(given, target));
  EXPECT_LT((before - after).abs().max().item<double>(), 1e-10 * before.abs().max().item<double>());
}

class EveryPair : public ::testing::TestWithParam<testing::LawCase> {};

// Every scheme with every norm, in every kind of model: it learns and, where it can, folds; or it
// is refused with a reason.
TEST_P(EveryPair, LearnsAndFolds) {
  for (const std::string& norm : kind_names<NormChoice>()) {
    for (const auto& [name, kind] : EnumNames<ModelKind>::value) {
      SCOPED_TRACE(norm + " " + std::string(name));
      ModelOptions options = GetParam().options;
      options.kind = kind;
      options.norm = *ChoiceTraits<NormChoice>::make(norm);
      if (auto* grouped = std::get_if<GroupNorm>(&options.norm)) grouped->groups = 2;
      if (const auto found = contradictions(options); !found.empty()) {
        EXPECT_GT(found.front().text.size(), 20U);
        continue;
      }
      Transformer model(options, {letters, letters});
      const Packed given = options.shape().has_source ? source : Packed{};
      const auto [first, last] = trained(model, given);
      EXPECT_TRUE(std::isfinite(last));
      EXPECT_LT(last, first);
      check_fold(model, given);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryPair, ::testing::ValuesIn(testing::scheme_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ballast
