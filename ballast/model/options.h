#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/role.h"
#include "ballast/layers/activation_kinds.h"
#include "ballast/layers/embedding_kinds.h"
#include "ballast/layers/position_kinds.h"
#include "ballast/layers/score_kinds.h"
#include "ballast/layers/weight_form.h"
#include "ballast/model/embedding_sharing.h"
#include "ballast/model/presets.h"
#include "ballast/norm/kinds.h"
#include "ballast/norm/query_key.h"
#include "ballast/residual/schemes.h"

namespace ballast {

/// Encoder and decoder for pairs of texts, a decoder alone that continues one, or an encoder alone
/// that finds hidden tokens of one.
enum class ModelKind { seq2seq, causal_lm, masked_lm };

template <>
struct EnumNames<ModelKind> {
  static constexpr std::array<std::pair<std::string_view, ModelKind>, 3> value{
      {{"seq2seq", ModelKind::seq2seq},
       {"causal_lm", ModelKind::causal_lm},
       {"masked_lm", ModelKind::masked_lm}}};
};

/// What a kind of model consists of.
struct ModelShape {
  bool has_source = false;  ///< an encoder for a source, and cross-attention to it in the decoder
  Stack target = Stack::decoder;  ///< reads the text that is predicted

  bool has(Stack stack) const { return stack == target || has_source; }

  /// Whether tokens of the text are hidden, to be found from both sides. Else every one is
  /// predicted, from those before it.
  bool predicts_masked() const { return target == Stack::encoder; }

  /// The connections of one block of a stack, in forward order.
  std::span<const Sublayer> sublayers(Stack stack) const {
    static constexpr Sublayer all[] = {Sublayer::self_attention, Sublayer::cross_attention,
                                       Sublayer::feed_forward};
    static constexpr Sublayer without_cross[] = {Sublayer::self_attention, Sublayer::feed_forward};
    if (stack == Stack::decoder && has_source) return all;
    return without_cross;
  }
};

/// The only place that tells kinds apart.
constexpr ModelShape shape_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::seq2seq:
      return {.has_source = true};
    case ModelKind::masked_lm:
      return {.target = Stack::encoder};
    case ModelKind::causal_lm:
      break;
  }
  return {};
}

/// What one part of a model has of its own, such as Post-Norm in the lower blocks and Pre-Norm in
/// the others (Mix-LN, Li et al. 2024, arXiv:2412.13795): what it does not name holds for all.
struct SiteRule {
  std::optional<Stack> stack;
  std::optional<Sublayer> sublayer;
  double from = 0,
         to = 1;  ///< of the blocks of a stack: the share before the first, up to the last
  std::optional<ResidualChoice> residual;
  std::optional<NormChoice> norm;

  /// Block l of L, from 0, lies at l / L.
  bool serves(const ResidualSite& site) const {
    const double depth = static_cast<double>(site.layer) / site.layers();
    return (!stack || *stack == site.stack) && (!sublayer || *sublayer == site.kind) &&
           depth >= from && depth < to;
  }

  static constexpr auto fields() {
    constexpr Bounds share{.low = 0, .high = 1};
    return std::make_tuple(
        field("stack", &SiteRule::stack, "encoder or decoder; absent: both"),
        field("sublayer", &SiteRule::sublayer,
              "self_attention, cross_attention or feed_forward; absent: all"),
        field("from", &SiteRule::from, "first block, as a share of the stack's: 0.25 of 12 is 3",
              share),
        field("to", &SiteRule::to, "block before which it ends, as a share", share),
        field("residual", &SiteRule::residual, "their scheme; absent: as without the rule"),
        field("norm", &SiteRule::norm, "their norm; absent: as without the rule"));
  }
  bool operator==(const SiteRule&) const = default;
};

/// Everything that decides the architecture, except the vocabulary sizes. The defaults are the base
/// model of Vaswani et al. 2017 (arXiv:1706.03762) with Admin's connections, ReLU and layer norm.
struct ModelOptions {
  PresetChoice preset;
  ModelKind kind = ModelKind::seq2seq;
  int64_t d_model = 512, d_ff = 2048, heads = 8;
  std::optional<int64_t> key_value_heads, head_width;
  int64_t encoder_layers = 6, decoder_layers = 6;
  ActivationChoice activation;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;  ///< probabilities
  EmbeddingSharing share_embeddings = EmbeddingSharing::automatic;
  EmbeddingScaleChoice embedding_scale;
  bool embedding_norm = false;
  bool linear_bias = true;
  bool output_transform = false, output_bias = false;
  double logit_soft_cap = 0;
  PositionChoice positions;
  NormChoice norm;
  QueryKeyChoice query_key_norm;
  ScoreChoice scores;
  double attention_soft_cap = 0;
  WeightChoice weights;
  ResidualChoice residual = Admin{};
  std::optional<ResidualChoice> encoder_residual, decoder_residual;

  std::vector<SiteRule> sites;
  int64_t ramp = 0;  ///< steps; above 0 it stands for a ramp that the scheme has of its own
  bool ramp_by_layer = false;

  /// The scheme of a connection: that of the last rule that has one for it, else the stack's own (a
  /// hybrid), else the common one.
  const ResidualChoice& residual_at(const ResidualSite& site) const {
    const auto& own = site.stack == Stack::encoder ? encoder_residual : decoder_residual;
    const ResidualChoice* found = own ? &*own : &residual;
    for (const SiteRule& rule : sites) {
      if (rule.residual && rule.serves(site)) found = &*rule.residual;
    }
    return *found;
  }

  /// The norm of a connection and its branch: that of the last rule that has one for it, else the
  /// common one, which the stack's own norms always are.
  const NormChoice& norm_at(const ResidualSite& site) const {
    const NormChoice* found = &norm;
    for (const SiteRule& rule : sites) {
      if (rule.norm && rule.serves(site)) found = &*rule.norm;
    }
    return *found;
  }

  ModelShape shape() const { return shape_of(kind); }

  /// Blocks of a stack; none of one that the kind has not.
  int64_t layers(Stack stack) const {
    if (!shape().has(stack)) return 0;
    return stack == Stack::encoder ? encoder_layers : decoder_layers;
  }

  /// K, features of a head.
  int64_t d_head() const { return head_width.value_or(d_model / heads); }

  /// Of a token's row on the way in; absent: table two's.
  std::optional<double> embedding_factor() const {
    return form_of(embedding_scale, d_model).factor;
  }

  /// What a reader does once it has read the option `leading`, and before it reads any other.
  static constexpr std::string_view leading = "preset";
  void follow_leading() { adopt(preset, *this); }

  static constexpr auto size_fields() {
    return std::make_tuple(
        field(
            "preset", &ModelOptions::preset,
            "a published architecture, whose options stand for the defaults of all others but the "
            "sizes"),
        field("kind", &ModelOptions::kind,
              "seq2seq (translation), causal_lm (predicts every next token) or masked_lm (finds "
              "hidden tokens)"),
        field("d_model", &ModelOptions::d_model, "width of the residual stream, even",
              at_least_one),
        field("d_ff", &ModelOptions::d_ff, "width of the feed-forward layers", at_least_one),
        field("heads", &ModelOptions::heads,
              "attention heads; divides d_model, unless there is a head_width", at_least_one),
        field("key_value_heads", &ModelOptions::key_value_heads,
              "heads of keys and values, each read by heads / key_value_heads of the queries; "
              "divides heads; absent: heads",
              at_least_one),
        field("head_width", &ModelOptions::head_width,
              "features of a head; absent: d_model / heads", at_least_one),
        field("encoder_layers", &ModelOptions::encoder_layers, "blocks; ignored by causal_lm",
              at_least_one),
        field("decoder_layers", &ModelOptions::decoder_layers, "blocks; ignored by masked_lm",
              at_least_one));
  }

  static constexpr auto layer_fields() {
    return std::make_tuple(
        field("activation", &ModelOptions::activation,
              "of the feed-forward layers; gated pairs are act(W_g x) * W_u x"),
        field("dropout", &ModelOptions::dropout,
              "after the embeddings and on every branch before it is added", probability),
        field("attention_dropout", &ModelOptions::attention_dropout,
              "on the attention probabilities", probability),
        field("activation_dropout", &ModelOptions::activation_dropout,
              "after the feed-forward activation", probability),
        field("share_embeddings", &ModelOptions::share_embeddings,
              "one table for: all (source, target, output), target_output, none; auto: all where "
              "both sides have one vocabulary, else target_output"),
        field("embedding_scale", &ModelOptions::embedding_scale,
              "factor of a token's vector on the way in"),
        field("embedding_norm", &ModelOptions::embedding_norm,
              "a norm of what enters a stack, before its dropout (BERT), whatever the scheme says"),
        field("linear_bias", &ModelOptions::linear_bias,
              "whether the matrices of attention, feed-forward layers and output_transform have "
              "one"),
        field("output_transform", &ModelOptions::output_transform,
              "norm(activation(W h + b)), W [d_model, d_model], before the output projection "
              "(BERT)"),
        field("output_bias", &ModelOptions::output_bias, "whether the output projection has one"),
        field("logit_soft_cap", &ModelOptions::logit_soft_cap,
              "c: a logit z of the output becomes c tanh(z / c) (Gemma 2, arXiv:2408.00118: 30); "
              "0: none",
              at_least_zero));
  }

  static constexpr auto rule_fields() {
    return std::make_tuple(
        field("positions", &ModelOptions::positions, "how a token knows its place"),
        field("norm", &ModelOptions::norm, "normalisation, wherever the residual scheme has one"),
        field("query_key_norm", &ModelOptions::query_key_norm,
              "what queries and keys go through before they are compared"),
        field("scores", &ModelOptions::scores, "factor of their products, the logits of attention"),
        field("attention_soft_cap", &ModelOptions::attention_soft_cap,
              "c: a logit s of attention becomes c tanh(s / c), before a bias of positions (Gemma "
              "2, arXiv:2408.00118: 50); 0: none",
              at_least_zero),
        field("weights", &ModelOptions::weights,
              "what acts for the stored matrices of attention and feed-forward layers"),
        field("residual", &ModelOptions::residual, "how a branch is joined to its shortcut"),
        field("encoder_residual", &ModelOptions::encoder_residual,
              "the encoder's own scheme; absent: residual"),
        field("decoder_residual", &ModelOptions::decoder_residual,
              "the decoder's own scheme; absent: residual"),
        field("sites", &ModelOptions::sites,
              "schemes and norms of single stacks, sublayers or depths; the last that fits holds"),
        field(
            "ramp", &ModelOptions::ramp,
            "updates in which the branch of every connection grows from 0; 0: there from the start",
            at_least_zero),
        field("ramp_by_layer", &ModelOptions::ramp_by_layer,
              "layer l takes l times as many updates (ProRes, arXiv:2603.05369)"));
  }

  static constexpr auto fields() {
    return std::tuple_cat(size_fields(), layer_fields(), rule_fields());
  }
  bool operator==(const ModelOptions&) const = default;
};

/// The connections of block `layer` of a stack, from 0, in forward order; their `index` and `count`
/// are of the whole stack.
std::vector<ResidualSite> sites_of(const ModelOptions& options, Stack stack, int64_t layer);

/// How the connection at a site is made: the form of its scheme, with the model's ramp.
ResidualForm form_at(const ModelOptions& options, const ResidualSite& site);

/// What surrounds the connections of a stack: as the scheme of the last one has it. The stack has
/// to have a block.
StackForm stack_form(const ModelOptions& options, Stack stack);

/// The same with a scheme of its own.
StackForm stack_form(const ModelOptions& options, const ResidualChoice& scheme);

}  // namespace ballast
