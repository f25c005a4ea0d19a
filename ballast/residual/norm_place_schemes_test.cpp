#include "ballast/residual/norm_place_schemes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/residual/coefficient_schemes.h"
#include "ballast/residual/inner_norm_schemes.h"
#include "ballast/testing/connection.h"

namespace ballast {
namespace {

using testing::bent;
using testing::connection;
using testing::normed;

constexpr int64_t d = 6;

/// A connection of a language model: each layer has an attention and a feed-forward layer.
ResidualSite at(int index, int layers) {
  return {.stack = Stack::decoder,
          .kind = index % 2 == 0 ? Sublayer::self_attention : Sublayer::feed_forward,
          .index = index,
          .count = 2 * layers,
          .layer = index / 2,
          .decoder_layers = layers,
          .d_model = d};
}

/// Blocks of a model that are Post-Norm.
int post_norms(const MixNorm& scheme, int layers) {
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const bool is_post = scheme.form(at(2 * layer, layers)) == PostNorm{}.form({});
    EXPECT_EQ(is_post,
              layer < count + 1 && scheme.form(at(2 * layer + 1, layers)).norms.has(Point::stream));
    count += is_post ? 1 : 0;
  }
  return count;
}

TEST(ReorderedNorm, NormsWhatTheBranchGivesAndNothingBeforeIt) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({4, d});
  const torch::Tensor y = connection(ReorderedNorm{}, at(0, 2)).forward(x, bent);
  EXPECT_TRUE(torch::allclose(y, x + normed(bent(x)), 1e-5, 1e-6));
  EXPECT_TRUE(ReorderedNorm{}.stack().norms.has(Point::stack));
}

TEST(LayerNormScaling, TheFirstBlockIsPreNormAndTheFourthReadsHalf) {
  const LayerNormScaling scheme;
  for (const int index : {0, 1}) EXPECT_EQ(scheme.form(at(index, 4)), PreNorm{}.form({}));
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({4, d});
  for (const int index : {6, 7}) {
    const torch::Tensor y = connection(scheme, at(index, 4)).forward(x, bent);
    EXPECT_TRUE(torch::allclose(y, x + bent(normed(x) / 2), 1e-5, 1e-6)) << index;
  }
}

TEST(MixNorm, WithoutPostNormIsPreNormAndWithoutPreNormIsPostNorm) {
  for (int index = 0; index < 8; ++index) {
    EXPECT_EQ(MixNorm{.share = 0}.form(at(index, 4)), PreNorm{}.form({})) << index;
    EXPECT_EQ(MixNorm{.share = 1}.form(at(index, 4)), PostNorm{}.form({})) << index;
  }
  EXPECT_EQ(MixNorm{.share = 0}.stack(), PreNorm{}.stack());
  EXPECT_EQ(MixNorm{.share = 1}.stack(), StackForm{});
}

// floor(a L); the authors have 3 of 12 and 6 of 24 layers.
TEST(MixNorm, HasAsManyPostNormBlocksAsTheShareHolds) {
  EXPECT_EQ(post_norms({}, 12), 3);
  EXPECT_EQ(post_norms({}, 24), 6);
  EXPECT_EQ(post_norms({}, 6), 1);
  EXPECT_EQ(post_norms({.share = 0.29}, 100), 29);
  EXPECT_EQ(post_norms({.share = 0.99}, 12), 11);
}

TEST(Keel, MultipliesTheShortcutByTheNumberOfConnections) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::randn({4, d});
  for (const int index : {2, 3, 23}) {
    const torch::Tensor y = connection(Keel{}, at(index, 12)).forward(x, bent);
    EXPECT_TRUE(torch::allclose(y, normed(24 * x + bent(normed(x))), 1e-5, 1e-6)) << index;
  }
  EXPECT_EQ(Keel{.alpha = 5}.form(at(2, 12)).shortcut.start.number(), 5);
}

TEST(Keel, StartsWithAPreNormAttentionAndAShortcutOfOne) {
  EXPECT_EQ(Keel{}.form(at(0, 12)), PreNorm{}.form({}));
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({4, d});
  for (const Keel& scheme : {Keel{}, Keel{.alpha = 5}}) {
    const torch::Tensor y = connection(scheme, at(1, 12)).forward(x, bent);
    EXPECT_TRUE(torch::allclose(y, normed(x + bent(normed(x))), 1e-5, 1e-6));
  }
}

// The authors have lambda^2 = 0.995, beta^2 = 0.005 for 192 layers.
TEST(DeepScale, KeepsTheVarianceOfAStreamAndABranchThatHaveTheSame) {
  for (const int layers : {1, 2, 12, 192}) {
    const ResidualForm form = DeepScale{}.form(at(0, layers));
    const double lambda = form.shortcut.start.number(), beta = form.branch.start.number();
    EXPECT_NEAR(lambda * lambda + beta * beta, 1, 1e-15);
    EXPECT_NEAR(beta * beta, layers == 1 ? 0.5 : 1.0 / layers, 1e-15);
    EXPECT_GT(lambda, 0);
  }
  const DeepScale authors{.beta_squared = 0.005};
  EXPECT_NEAR(authors.form(at(0, 192)).shortcut.start.number(), 0.997496867163, 1e-12);
  torch::manual_seed(5);
  const torch::Tensor x = torch::randn({4, d});
  const torch::Tensor y = connection(authors, at(0, 192)).forward(x, bent);
  const torch::Tensor expected = std::sqrt(0.995) * x + std::sqrt(0.005) * bent(normed(x));
  EXPECT_TRUE(torch::allclose(y, expected, 1e-5, 1e-6));
}

TEST(DeepScale, IsPostNormWithANumberOnEachSideWhereAsked) {
  const DeepScale scheme{.norm = NormPlacement::post};
  EXPECT_EQ(scheme.form(at(0, 4)).norms, PostNorm{}.form({}).norms);
  EXPECT_EQ(scheme.stack(), StackForm{});
  EXPECT_EQ(DeepScale{}.stack(), PreNorm{}.stack());
}

TEST(Fixup, IsAtTheStartTheSumAloneToTheBit) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({4, d});
  for (const int index : {0, 1}) {
    const torch::Tensor y = connection(Fixup{}, at(index, 2)).forward(x, bent);
    EXPECT_TRUE(torch::equal(y, connection(NoNorm{}, at(index, 2)).forward(x, bent)));
    EXPECT_TRUE(torch::equal(y, x + bent(x)));
  }
}

TEST(Fixup, ShiftsWhatTheBranchReadsAndMultipliesWhatItGives) {
  torch::manual_seed(7);
  const torch::Tensor x = torch::randn({4, d});
  Residual residual = connection(Fixup{}, at(0, 2));
  residual.branch.detach().fill_(0.5);
  residual.named_parameters()["read_shift"].detach().fill_(-0.25);
  EXPECT_TRUE(torch::allclose(residual.forward(x, bent), x + 0.5 * bent(x - 0.25), 1e-6, 1e-6));
}

// y = x + attention(x), z = norm(y), z + f(z) (Zhuo et al. 2025, equations of HybridNorm).
TEST(HybridNorm, NormsTheStreamOnceBeforeTheFeedForwardLayer) {
  torch::manual_seed(8);
  const torch::Tensor x = torch::randn({4, d});
  torch::Tensor y = connection(HybridNorm{}, at(2, 4)).forward(x, bent);
  y = connection(HybridNorm{}, at(3, 4)).forward(y, bent);
  const torch::Tensor z = normed(x + bent(x));
  EXPECT_TRUE(torch::allclose(y, z + bent(z), 1e-5, 1e-6));
}

TEST(HybridNorm, TheFirstBlockMayBePreNorm) {
  const HybridNorm scheme{.first_block = true};
  EXPECT_EQ(scheme.form(at(0, 4)).norms, PreNorm{}.form({}).norms);
  EXPECT_EQ(scheme.form(at(0, 4)).head_norms, HybridNorm{}.form(at(0, 4)).head_norms);
  EXPECT_EQ(scheme.form(at(1, 4)), PreNorm{}.form({}));
  for (const int index : {2, 3}) {
    EXPECT_EQ(scheme.form(at(index, 4)), HybridNorm{}.form(at(index, 4)));
  }
}

TEST(HybridNorm, HasItsPlacesAtEverySite) {
  using P = Point;
  const auto heads = [](AttentionNorm kind) {
    return HybridNorm{.attention = kind}.form(at(0, 4)).head_norms;
  };
  EXPECT_EQ(heads(AttentionNorm::qkv), (Points{P::query, P::key, P::value}));
  EXPECT_EQ(heads(AttentionNorm::qkvc), (Points{P::query, P::key, P::value, P::heads}));
  EXPECT_EQ(heads(AttentionNorm::qk), (Points{P::query, P::key}));
  EXPECT_EQ(heads(AttentionNorm::kv), (Points{P::key, P::value}));
  ResidualSite decoder{.stack = Stack::decoder, .encoder_layers = 4, .decoder_layers = 4};
  EXPECT_EQ(HybridNorm{}.form(decoder).norms, Points{});
  decoder.kind = Sublayer::cross_attention;
  EXPECT_EQ(HybridNorm{}.form(decoder).norms, Points{P::stream});
  decoder.kind = Sublayer::feed_forward;
  EXPECT_EQ(HybridNorm{}.form(decoder), ResidualForm{});
}

}  // namespace
}  // namespace ballast
