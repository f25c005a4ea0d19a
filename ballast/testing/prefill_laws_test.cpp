#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ballast/base/philox.h"
#include "ballast/base/sampling.h"
#include "ballast/testing/toy.h"
#include "ballast/values/calibrate.h"

namespace ballast {
namespace {

using testing::LawCase;
using testing::toy_ids;
using testing::toy_vocabulary;

torch::Tensor beginnings_of(const torch::Tensor& rows, const Segments& all,
                            std::span<const int64_t> lengths) {
  std::vector<torch::Tensor> parts;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t begin = all.begin(static_cast<int64_t>(i));
    parts.push_back(rows.slice(0, begin, begin + lengths[i]));
  }
  return torch::cat(parts);
}

/// A sequence read in one pass and gone on with token by token gives what the whole one gives, for
/// every row of every list, with sequences of different lengths beside each other.
class EveryPrefill : public ::testing::TestWithParam<LawCase> {
 protected:
  std::shared_ptr<Transformer> model(ModelKind kind) {
    LawCase each = GetParam();
    each.options = testing::as_kind(kind, each.options);
    auto made = testing::toy_model(each);
    calibrate(*made, kind == ModelKind::seq2seq ? source_ : Packed(), target_);
    // Away from the start everything takes part, also what begins at zero.
    for (const PlannedParameter& planned : plan(*made, {.init = each.init}).parameters) {
      const torch::Tensor tensor = planned.entry.tensor.detach();
      tensor.add_((uniform_numbers(tensor.sizes(), key_of(planned.entry.name)) - 0.5) * 0.3);
    }
    made->context().step = 700;
    return made;
  }

  Packed read_part() const {
    return {beginnings_of(target_.tokens, target_.segments, read_), Segments::packed(read_)};
  }

  void check_read(const torch::Tensor& read, const torch::Tensor& whole) const {
    const torch::Tensor wanted = beginnings_of(whole, target_.segments, read_);
    EXPECT_TRUE(torch::allclose(read, wanted, 1e-4, 1e-5));
  }

  void check_steps(const Transformer& model, const torch::Tensor& whole, DecodeState state) const {
    for (int64_t t = 0; t < 2; ++t) {
      std::vector<int64_t> rows;
      for (size_t i = 0; i < read_.size(); ++i) {
        rows.push_back(target_.segments.begin(static_cast<int64_t>(i)) + read_[i] + t);
      }
      const torch::Tensor at = torch::tensor(rows, torch::kInt64);
      const torch::Tensor stepped = model.step(target_.tokens.index_select(0, at), state);
      EXPECT_TRUE(torch::allclose(stepped, whole.index_select(0, at), 1e-4, 1e-5)) << t;
    }
  }

  torch::NoGradGuard no_grad_;
  const std::vector<int64_t> read_{3, 1, 5};
  const Packed source_ = toy_ids({3, 1, 4}, toy_vocabulary, 1);
  const Packed target_ = toy_ids({5, 3, 7}, toy_vocabulary, 3);
};

TEST_P(EveryPrefill, ThenStepsEqualTheWholeSequence) {
  const auto causal = model(ModelKind::causal_lm);
  const torch::Tensor whole = causal->forward({}, target_);
  DecodeState state = causal->start();
  check_read(causal->read(read_part(), state), whole);
  check_steps(*causal, whole, std::move(state));
}

TEST_P(EveryPrefill, OfSequencesOneByOneIsThatOfAllTogether) {
  const auto causal = model(ModelKind::causal_lm);
  const torch::Tensor whole = causal->forward({}, target_);
  DecodeState state = causal->start();
  const Packed all = read_part();
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t begin = all.segments.begin(i), length = all.segments.length(i);
    causal->read({all.tokens.slice(0, begin, begin + length), Segments::packed(std::array{length})},
                 state);
  }
  check_steps(*causal, whole, std::move(state));
}

TEST_P(EveryPrefill, OfTargetsBesideASource) {
  const auto translates = model(ModelKind::seq2seq);
  const torch::Tensor whole = translates->forward(source_, target_);
  DecodeState state = translates->start(translates->encode(source_), 1);
  check_read(translates->read(read_part(), state), whole);
  check_steps(*translates, whole, std::move(state));
}

std::string case_name(const ::testing::TestParamInfo<LawCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Schemes, EveryPrefill, ::testing::ValuesIn(testing::scheme_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Norms, EveryPrefill, ::testing::ValuesIn(testing::norm_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(QueryKeyNorms, EveryPrefill,
                         ::testing::ValuesIn(testing::query_key_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Positions, EveryPrefill, ::testing::ValuesIn(testing::position_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Activations, EveryPrefill,
                         ::testing::ValuesIn(testing::activation_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Scores, EveryPrefill, ::testing::ValuesIn(testing::score_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Attentions, EveryPrefill, ::testing::ValuesIn(testing::attention_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Weights, EveryPrefill, ::testing::ValuesIn(testing::weight_cases()),
                         case_name);

}  // namespace
}  // namespace ballast
