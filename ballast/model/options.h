#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/role.h"
#include "ballast/kernels/linear.h"
#include "ballast/layers/positions.h"
#include "ballast/norm/norm.h"
#include "ballast/residual/schemes.h"

namespace ballast {

enum class ModelKind { seq2seq, causal_lm };

template <>
struct EnumNames<ModelKind> {
  static constexpr std::array<std::pair<std::string_view, ModelKind>, 2> value{
      {{"seq2seq", ModelKind::seq2seq}, {"causal_lm", ModelKind::causal_lm}}};
};

/// What a kind of model consists of.
struct ModelShape {
  bool has_source = false;  ///< an encoder for a source, and cross-attention to it in the decoder

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
    case ModelKind::causal_lm:
      break;
  }
  return {};
}

/// Which tables are one: as many as can be (all where both sides have one vocabulary, else target
/// and output), all (source, target, output), target and output, or none.
enum class EmbeddingSharing { automatic, all, target_output, none };

template <>
struct EnumNames<EmbeddingSharing> {
  static constexpr std::array<std::pair<std::string_view, EmbeddingSharing>, 4> value{
      {{"auto", EmbeddingSharing::automatic},
       {"all", EmbeddingSharing::all},
       {"target_output", EmbeddingSharing::target_output},
       {"none", EmbeddingSharing::none}}};
};

/// Everything that decides the architecture, except the vocabulary sizes.
struct ModelOptions {
  ModelKind kind = ModelKind::seq2seq;
  int64_t d_model = 512, d_ff = 2048, heads = 8;
  int64_t encoder_layers = 6, decoder_layers = 6;
  Activation activation = Activation::relu;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  EmbeddingSharing share_embeddings = EmbeddingSharing::automatic;
  bool output_bias = false;
  PositionChoice positions;
  NormChoice norm;
  ResidualChoice residual = Admin{};
  std::optional<ResidualChoice> encoder_residual, decoder_residual;

  /// The scheme of one stack: its own where it has one (a hybrid), else the common one.
  const ResidualChoice& residual_of(Stack stack) const {
    const auto& own = stack == Stack::encoder ? encoder_residual : decoder_residual;
    return own ? *own : residual;
  }

  ModelShape shape() const { return shape_of(kind); }

  /// Blocks of a stack; none of an encoder that the kind has not.
  int64_t layers(Stack stack) const {
    if (stack == Stack::decoder) return decoder_layers;
    return shape().has_source ? encoder_layers : 0;
  }

  static constexpr auto fields() {
    return std::make_tuple(
        field("kind", &ModelOptions::kind, "seq2seq (translation) or causal_lm (language model)"),
        field("d_model", &ModelOptions::d_model, "width of the residual stream, even",
              at_least_one),
        field("d_ff", &ModelOptions::d_ff, "width of the feed-forward layers", at_least_one),
        field("heads", &ModelOptions::heads, "attention heads; divides d_model", at_least_one),
        field("encoder_layers", &ModelOptions::encoder_layers, "blocks; ignored by causal_lm",
              at_least_one),
        field("decoder_layers", &ModelOptions::decoder_layers, "blocks", at_least_one),
        field(
            "activation", &ModelOptions::activation,
            "of the feed-forward layers; reglu, geglu, swiglu are gated pairs: act(W_g x) * W_u x"),
        field("dropout", &ModelOptions::dropout,
              "after the embeddings and on every branch before it is added", probability),
        field("attention_dropout", &ModelOptions::attention_dropout,
              "on the attention probabilities", probability),
        field("activation_dropout", &ModelOptions::activation_dropout,
              "after the feed-forward activation", probability),
        field("share_embeddings", &ModelOptions::share_embeddings,
              "one table for: all (source, target, output), target_output, none; auto: all where "
              "both "
              "sides have one vocabulary, else target_output"),
        field("output_bias", &ModelOptions::output_bias, "whether the output projection has one"),
        field("positions", &ModelOptions::positions, "how a token knows its place"),
        field("norm", &ModelOptions::norm, "normalisation, wherever the residual scheme has one"),
        field("residual", &ModelOptions::residual, "how a branch is joined to its shortcut"),
        field("encoder_residual", &ModelOptions::encoder_residual,
              "the encoder's own scheme; absent: residual"),
        field("decoder_residual", &ModelOptions::decoder_residual,
              "the decoder's own scheme; absent: residual"));
  }
  bool operator==(const ModelOptions&) const = default;
};

/// Ids of the source and target side.
struct VocabularySizes {
  int64_t source = 0, target = 0;
  bool joint = true;  ///< whether an id means the same on both sides
};

/// What `automatic` stands for; every other value stands for itself.
constexpr EmbeddingSharing resolved(EmbeddingSharing sharing, bool joint_vocabulary) {
  if (sharing != EmbeddingSharing::automatic) return sharing;
  return joint_vocabulary ? EmbeddingSharing::all : EmbeddingSharing::target_output;
}

}  // namespace ballast
