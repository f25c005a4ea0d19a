#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/init/rule.h"
#include "ballast/init/shape_inits.h"

namespace ballast {

// Rows that know the depth of a model, and rows that make its branches nothing, or linear.

/// Which reading of DS-Init: the paper's, where the std falls with the root of the layer, or that
/// of the authors' code (bzhangGo/zero), where the variance does.
enum class DsReading { paper, code };

template <>
struct EnumNames<DsReading> {
  static constexpr std::array<std::pair<std::string_view, DsReading>, 2> value{
      {{"paper", DsReading::paper}, {"code", DsReading::code}}};
};

/// Layer l from 1; matrices outside of layers are Glorot uniform.
struct DsInit : TablesByWidth {
  static constexpr KindInfo info{"ds_init", "U(+-alpha sqrt(6/(fan_in+fan_out)) / sqrt(l))",
                                 "Zhang et al. 2019, arXiv:1908.11365"};
  double alpha = 1;
  DsReading reading = DsReading::paper;

  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("alpha", &DsInit::alpha, "factor on the bounds", Bounds{.low = 0, .high = 1}),
        field("reading", &DsInit::reading,
              "paper: bounds fall with l^(1/2); code (bzhangGo/zero): with l^(1/4)"));
  }
  bool operator==(const DsInit&) const = default;
};

/// What Fixup draws. The last matrix of a branch is 0, all others of it are `fairseq`'s times
/// B^(-1/(2m-2)), with m = 2 matrices in a feed-forward layer and 4 in an attention, and B branches
/// in the model: 2 N + 3 M, or 2 M without a source. An untied output is 0; a tied one is a table.
struct FixupInit {
  static constexpr KindInfo info{
      "fixup", "ends of branches 0, others fairseq's times B^(-1/(2m-2)), untied output 0",
      "Zhang et al. 2019, arXiv:1901.09321"};

  Draw table(const ParameterFacts& facts) const;
  Draw matrix(const ParameterFacts& facts) const;
  bool operator==(const FixupInit&) const = default;
};

/// What T-Fixup draws: Glorot uniform; values, ends of branches and feed-forward layers times 0.67
/// N^(-1/4) in the encoder and (9 M)^(-1/4) in the decoder; embeddings N(0, 1/d) times (9 N)^(-1/4)
/// for the source, (9 M)^(-1/4) for the target and for a table of both.
struct TFixupInit {
  static constexpr KindInfo info{
      "t_fixup",
      "Glorot uniform; v o ff times .67 N^-1/4 or (9M)^-1/4; tables (9N)^-1/4, (9M)^-1/4",
      "Huang et al. 2020, ICML"};
  double query_key_gain = 1;

  /// Of the stack of a site.
  double factor(const ResidualSite& site) const;
  Draw table(const ParameterFacts& facts) const;
  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(field("query_key_gain", &TFixupInit::query_key_gain,
                                 "of query and key: 1 as in the paper, 1/sqrt(2) in the authors' "
                                 "code, which is fairseq's",
                                 at_least_zero));
  }
  bool operator==(const TFixupInit&) const = default;
};

/// `fairseq`, but a feed-forward layer is linear before training: W_in = [A; -A], W_out = [B, -B],
/// so W_out f(W_in x) = B (f(A x) - f(-A x)) = B A x for relu, gelu and silu alike. Not so for a
/// gated pair. As in Transformer-Clinic, with the variance of the whole matrices.
struct LookLinear : TablesByWidth {
  static constexpr KindInfo info{"look_linear", "fairseq, feed-forward [A; -A] and [B, -B]",
                                 "Balduzzi et al. 2017, arXiv:1702.08591"};

  Draw matrix(const ParameterFacts& facts) const;
  bool operator==(const LookLinear&) const = default;
};

/// Every branch gives rows of variance 1, whatever dropout p takes and tokens have in common:
///
///     feed-forward   sd^4 = (1-p) / (E f^2 d d_ff),   E f^2 of the activation
///     value, output  sd^4 = (1-p) / (r d^2),          query, key  sd^2 = 1/d
///     embeddings     sd^2 = (1-p) / summed,           untied output  sd^2 = 1/d
///
/// r is the correlation of two tokens there: `correlation` (1-p) in the embeddings; (1-p) of what
/// an attention gives; (1-p)(r + (sqrt(1-r^2) - r arccos r)/pi) of relu's feed-forward layer; and a
/// connection mixes them by the squares of its factors. A cross-attention reads the last r of an
/// encoder that has the factors of its own connection.
struct DeepScaleInit {
  static constexpr KindInfo info{"deep_scale",
                                 "by dropout and by the correlation of tokens at its depth",
                                 "Kedia et al. 2024, arXiv:2403.09635"};
  double correlation = 0.221;
  int64_t summed = 2;

  Draw table(const ParameterFacts& facts) const;
  Draw matrix(const ParameterFacts& facts) const;
  /// r before connection `index` of a stack with `cycle` connections a layer.
  double correlation_at(const ParameterFacts& facts, int index, int cycle) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("correlation", &DeepScaleInit::correlation, "of two embeddings, before dropout",
              Bounds{.low = 0, .high = 1, .open_low = true}),
        field("summed", &DeepScaleInit::summed,
              "vectors that make an embedding: token and position; 3 in the authors' BERT",
              at_least_one));
  }
  bool operator==(const DeepScaleInit&) const = default;
};

using DepthInits = std::variant<DsInit, FixupInit, TFixupInit, LookLinear, DeepScaleInit>;

}  // namespace ballast
