#include <gtest/gtest.h>

#include <algorithm>

#include "ballast/model/contradictions.h"
#include "ballast/model/inventory.h"
#include "ballast/testing/connection.h"
#include "ballast/testing/toy.h"

namespace ballast {
namespace {

using testing::normed;
using testing::toy_model;
using testing::toy_options;

int64_t count_of(Transformer& model, Role role) {
  return std::ranges::count(inventory(model).parameters, role,
                            [](const InventoryEntry& each) { return each.facts.role; });
}

TEST(HybridNorm, StandsInAModelOnEachHeadAndBeforeTheFeedForwardLayer) {
  const auto model = toy_model(toy_options(HybridNorm{}));
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    const Block& block = *(stack == Stack::encoder ? model->encoder : model->decoder)->blocks[1];
    const auto& attention = block.branch<SelfAttention>(Sublayer::self_attention);
    for (const Point point : {Point::query, Point::key, Point::value}) {
      const auto norm = attention.norm_at(point);
      ASSERT_NE(norm, nullptr);
      EXPECT_EQ(norm->gain.sizes(), (std::vector<int64_t>{4}));  // of 8 features in 2 heads
      EXPECT_FALSE(norm->bias.defined());
    }
    EXPECT_EQ(attention.norm_at(Point::heads), nullptr);
    const Sublayer last =
        stack == Stack::encoder ? Sublayer::self_attention : Sublayer::cross_attention;
    for (const auto& [branch, residual] : block.connections) {
      EXPECT_EQ(residual->norm_at(Point::read), nullptr);
      EXPECT_EQ(residual->norm_at(Point::stream) != nullptr, residual->site().kind == last);
    }
  }
}

TEST(HybridNorm, LeavesQueriesAndKeysToTheRecipeThatNamesTheirNorm) {
  ModelOptions options = toy_options(HybridNorm{});
  options.query_key_norm = CosineAttention{};
  const auto model = toy_model(options);
  const auto& attention =
      model->encoder->blocks[0]->branch<SelfAttention>(Sublayer::self_attention);
  EXPECT_TRUE(attention.norm_at(Point::query)->form().to_length);
  EXPECT_FALSE(attention.norm_at(Point::value)->form().to_length);
}

TEST(HybridNorm, NormsOfOtherTokensAreRefusedInsideItsAttentionToo) {
  ModelOptions options = toy_options(HybridNorm{});
  options.norm = InstanceNorm{};
  const std::vector<Contradiction> found = contradictions(options);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().option, "model.norm");
}

// Two shifts in an attention, three in a feed-forward layer (Zhang et al. 2019), one factor each.
TEST(Fixup, HasShiftsBeforeEveryMatrixAndActivation) {
  const auto model = toy_model(toy_options(Fixup{}));
  EXPECT_EQ(count_of(*model, Role::point_shift), 2 * (2 + 3) + 2 * (2 + 2 + 3));
  EXPECT_EQ(count_of(*model, Role::branch_coefficient), 10);
  EXPECT_EQ(count_of(*model, Role::norm_gain), 0);

  const auto& layer = model->encoder->blocks[0]->branch<FeedForward>(Sublayer::feed_forward);
  layer.named_parameters()["gate_shift"].detach().fill_(0.5);
  layer.named_parameters()["hidden_shift"].detach().fill_(-0.25);
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({5, 8});
  const torch::Tensor hidden = torch::relu(torch::mm(x, layer.in->weight.t()) + 0.5) - 0.25;
  EXPECT_TRUE(
      torch::allclose(layer.forward(x), torch::mm(hidden, layer.out->weight.t()), 1e-4, 1e-5));
}

TEST(NoNorm, HasNoNormAnywhere) {
  const auto model = toy_model(toy_options(NoNorm{}));
  EXPECT_EQ(count_of(*model, Role::norm_gain), 0);
  EXPECT_EQ(count_of(*model, Role::norm_bias), 0);
}

TEST(MixNorm, IsTheSiteRuleThatSaysTheSame) {
  ModelOptions mixed{.encoder_layers = 12, .decoder_layers = 12, .residual = MixNorm{}};
  ModelOptions ruled = mixed;
  ruled.residual = PreNorm{};
  ruled.sites = {{.to = 0.25, .residual = PostNorm{}}};
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    EXPECT_EQ(stack_form(mixed, stack), stack_form(ruled, stack));
    for (int layer = 0; layer < 12; ++layer) {
      for (const ResidualSite& site : sites_of(mixed, stack, layer)) {
        EXPECT_EQ(form_at(mixed, site), form_at(ruled, site)) << layer;
      }
    }
  }
}

// ProRes, arXiv:2603.05369: alpha(l, t) = min(1, t / (T l)), on any scheme, T = 1000.
TEST(Ramp, ByLayerOnAnySchemeHasTheValuesOfProRes) {
  ModelOptions options = toy_options();
  options.ramp = 1000;
  options.ramp_by_layer = true;
  for (const ResidualChoice& scheme :
       {ResidualChoice{PostNorm{}}, ResidualChoice{DeepNorm{}}, ResidualChoice{LayerNormScaling{}},
        ResidualChoice{SandwichNorm{}}, ResidualChoice{Keel{}}}) {
    options.residual = scheme;
    ResidualSite third = sites_of(options, Stack::encoder, 1)[0];
    third.layer = 2;
    const ResidualForm form = form_at(options, third);
    EXPECT_EQ(form.branch.ramp_steps, 3000);
    EXPECT_EQ(ramp_at(form.branch, 1500), 0.5);
    EXPECT_EQ(ramp_at(form.branch, 4000), 1);
    ResidualForm settled = form;
    settled.branch.ramp_steps = 0;
    EXPECT_EQ(settled, form_of(scheme, third));
  }
}

/// What leaves the encoder of a model, and the lanes before they are summed.
struct Left {
  std::shared_ptr<Transformer> model;
  torch::Tensor rows;
  ResidualStream stream;
};

Left left_by(const ResidualChoice& scheme, const std::vector<torch::Tensor>& entering,
             const torch::Tensor& x, double gate = 0) {
  Left made{toy_model(toy_options(scheme)), {}, {entering}};
  const BlockStack& stack = *made.model->encoder;
  for (auto& each : made.model->encoder->named_parameters(false)) {
    each.value().detach().copy_(torch::full({}, gate));
  }
  const Segments segments = Segments::packed(std::array{x.size(0)});
  for (const auto& block : stack.blocks) made.stream = block->forward(made.stream, {segments});
  made.rows = stack.forward(x, {segments});
  return made;
}

TEST(ResiDual, LeavesTheNormOfTheSecondLaneBesideTheFirst) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({5, 8});
  const Left left = left_by(ResiDual{}, {x, x}, x);
  const auto& [last, dual] = std::pair(left.stream.lanes[0], left.stream.lanes[1]);
  EXPECT_TRUE(torch::allclose(left.rows, last + normed(dual), 1e-4, 1e-5));
}

TEST(FracConnections, LeaveTheRowThatTheirPartsMake) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::randn({5, 8});
  const Left left = left_by(FracConnections{.parts = 2}, x.chunk(2, 1), x);
  EXPECT_TRUE(torch::allclose(left.rows, normed(torch::cat(left.stream.lanes, 1)), 1e-4, 1e-5));
  const Left plain = left_by(PreNorm{}, {x}, x);
  EXPECT_TRUE(torch::equal(left.rows, plain.rows));
}

TEST(FracConnections, NeedAWidthThatTheirPartsDivide) {
  const std::vector<Contradiction> found = contradictions(toy_options(FracConnections{.parts = 3}));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().option, "model.residual");
}

// What leaves is the mean of all values, which are weighed as those that a connection reads.
TEST(AttentionResiduals, LeaveASoftmaxOverAllValues) {
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({5, 8}), none = torch::zeros({5, 8});
  for (const double gate : {0.0, 0.5}) {
    const Left left =
        left_by(AttentionResiduals{.blocks = 4}, {x, none, none, none, none}, x, gate);
    std::vector<torch::Tensor> logits;
    for (const torch::Tensor& v : left.stream.lanes) {
      logits.push_back(gate * (v / v.square().mean(1, true).sqrt()).sum(1));
    }
    const torch::Tensor p = torch::stack(logits).softmax(0);
    torch::Tensor mean = torch::zeros_like(x);
    for (int i = 0; i < 5; ++i) mean = mean + p[i].unsqueeze(1) * left.stream.lanes[i];
    EXPECT_TRUE(torch::allclose(left.rows, normed(mean), 1e-3, 1e-4));
  }
}

}  // namespace
}  // namespace ballast
