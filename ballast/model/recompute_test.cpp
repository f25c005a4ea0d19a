#include "ballast/model/recompute.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include "ballast/base/error.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using Tensors = std::vector<torch::Tensor>;
using testing::toy_ids;
using testing::toy_vocabulary;

ModelOptions options_of(ModelKind kind, ModelOptions options) {
  options = testing::as_kind(kind, std::move(options));
  options.encoder_layers = options.decoder_layers = 3;
  options.dropout = 0.2;
  options.attention_dropout = 0.1;
  options.activation_dropout = 0.1;
  return options;
}

std::shared_ptr<Transformer> training_model(const ModelOptions& options, Activations activations) {
  auto model = testing::toy_model(options);
  model->train();
  model->set_activations(activations);
  return model;
}

torch::Tensor loss_of(Transformer& model, uint64_t batch) {
  model.context().micro_batch = static_cast<int64_t>(batch);
  const Packed source = toy_ids({5, 9, 1, 12}, toy_vocabulary, batch);
  const Packed target = toy_ids({7, 3, 11, 2}, toy_vocabulary, 100 + batch);
  const torch::Tensor hidden = model.forward(source, target);
  return cross_entropy(model.output->against(hidden, target.tokens), {.smoothing = 0.1}).loss;
}

/// Losses of two batches, the second run before the first one's backward pass, then all gradients
/// and what the model keeps besides its parameters.
Tensors losses_and_gradients(Transformer& model) {
  Tensors all{loss_of(model, 1), loss_of(model, 2)};
  for (const torch::Tensor& loss : {all[0], all[1]}) loss.backward();
  for (const auto& parameter : model.named_parameters()) all.push_back(parameter.value().grad());
  for (const auto& buffer : model.named_buffers()) all.push_back(buffer.value());
  return all;
}

class EveryModel : public ::testing::TestWithParam<std::tuple<ModelKind, testing::LawCase>> {};

TEST_P(EveryModel, HasTheSameLossAndGradientsToTheBit) {
  const auto& [kind, example] = GetParam();
  const ModelOptions options = options_of(kind, example.options);
  const Tensors kept = losses_and_gradients(*training_model(options, Activations::kept));
  const Tensors again = losses_and_gradients(*training_model(options, Activations::recomputed));
  ASSERT_EQ(kept.size(), again.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    ASSERT_TRUE(kept[i].defined() && again[i].defined()) << i;
    EXPECT_TRUE(kept[i].equal(again[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(KindsAndRows, EveryModel,
                         ::testing::Combine(::testing::Values(ModelKind::seq2seq,
                                                              ModelKind::causal_lm,
                                                              ModelKind::masked_lm),
                                            ::testing::ValuesIn(testing::all_cases())));

TEST(Recompute, AnObserverSeesEveryTensorOnce) {
  const auto seen = [](Activations activations) {
    const auto model =
        training_model(options_of(ModelKind::seq2seq, testing::toy_options(Admin{})), activations);
    int count = 0;
    const Watch watch(model->context(), [&](const Passing&, const torch::Tensor& tensor) {
      ++count;
      return tensor;
    });
    loss_of(*model, 1).backward();
    return count;
  };
  EXPECT_GT(seen(Activations::kept), 0);
  EXPECT_EQ(seen(Activations::recomputed), seen(Activations::kept));
}

/// A part that counts its runs and lets go of what it computes on the way.
struct CountedPart {
  torch::Tensor weight = torch::full({3}, 2.0F, torch::requires_grad());
  int runs = 0;
  c10::weak_intrusive_ptr<c10::TensorImpl> inner{torch::ones({1}).getIntrusivePtr()};

  ForwardPart part() {
    return [this](const Tensors& inputs) -> Tensors {
      ++runs;
      const torch::Tensor hidden = (inputs[0] * weight).exp();
      inner = c10::weak_intrusive_ptr<c10::TensorImpl>(hidden.getIntrusivePtr());
      // The second input comes back as it is, like a lane that a connection leaves alone.
      if (inputs.size() == 2) return {hidden * inputs[1], inputs[1]};
      return {hidden * hidden};
    };
  }
};

TEST(Recompute, KeepsNothingInsideThePartUntilTheBackwardPass) {
  CountedPart counted;
  const torch::Tensor x = torch::tensor({0.5F, -1.0F, 2.0F}, torch::requires_grad());
  const torch::Tensor plain = counted.part()({x})[0];
  EXPECT_FALSE(counted.inner.expired());
  const torch::Tensor y = recomputed(counted.part(), {x})[0];
  EXPECT_TRUE(counted.inner.expired());
  EXPECT_EQ(counted.runs, 2);
  EXPECT_TRUE(y.equal(plain));
  y.sum().backward();
  EXPECT_EQ(counted.runs, 3);
}

TEST(Recompute, GradientsReachInputMemoryAndParameters) {
  CountedPart counted;
  const torch::Tensor x = torch::tensor({0.5F, -1.0F, 2.0F}, torch::requires_grad());
  const torch::Tensor memory = torch::tensor({3.0F, 4.0F, 5.0F}, torch::requires_grad());
  const auto gradients = [&](const Tensors& y) {
    for (torch::Tensor t : {x, memory, counted.weight}) t.mutable_grad() = torch::Tensor();
    (y[0].sum() + 3 * y[1].sum()).backward();
    return Tensors{x.grad(), memory.grad(), counted.weight.grad()};
  };
  const Tensors expected = gradients(counted.part()({x, memory}));
  const Tensors found = gradients(recomputed(counted.part(), {x, memory}));
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
}

TEST(Recompute, AnOutputThatNothingReadsHasNoPart) {
  CountedPart counted;
  const torch::Tensor x = torch::ones({3}, torch::requires_grad());
  const torch::Tensor memory = torch::ones({3}, torch::requires_grad());
  recomputed(counted.part(), {x, memory})[0].sum().backward();
  EXPECT_TRUE(memory.grad().allclose(counted.weight.exp()));
}

TEST(Recompute, ParametersBehindAnInputWithoutGradientStillGetTheirs) {
  CountedPart counted;
  recomputed(counted.part(), {torch::ones({3})})[0].sum().backward();
  EXPECT_TRUE(counted.weight.grad().defined());
  EXPECT_EQ(counted.runs, 1);
}

TEST(Recompute, NothingIsRecordedWithoutGradients) {
  const auto model = training_model(options_of(ModelKind::seq2seq, testing::toy_options(PreNorm{})),
                                    Activations::recomputed);
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(loss_of(*model, 1).requires_grad());
}

TEST(Recompute, ASecondDerivativeIsRefused) {
  CountedPart counted;
  const torch::Tensor x = torch::ones({3}, torch::requires_grad());
  const torch::Tensor sum = recomputed(counted.part(), {x})[0].sum();
  EXPECT_THROW(torch::autograd::grad({sum}, {x}, {}, true, true), RecipeError);
}

}  // namespace
}  // namespace ballast
