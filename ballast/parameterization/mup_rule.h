#pragma once

#include <cstdint>
#include <optional>

#include "ballast/parameterization/scaling.h"

namespace ballast {

/// muP and what goes on from it, for a model m times as wide and M times as deep as a base model:
/// at the base nothing changes. A width is `d_model`; d_ff and, unless `base_head_size` says
/// otherwise, the number of heads grow with it.
///
/// Initial values are those of the base model, those of matrices between features times 1/sqrt(m).
/// Factors: 1/m of the logits, sqrt(base_head_size)/K of q k^T, 1/sqrt(m) of a token's vector (that
/// is sqrt(base_width) of it instead of sqrt(d)), M^-alpha of a branch. Learning rates keep the
/// change of every activation in a step, by how the updates follow the gradient:
///
///     updates                                  matrix     table, output    bias, gain
///     of the learning rate's size (Adam)       1/m        1                1
///     of the gradient's (SGD)                  1          m                m
///     of full rank and one rms (Muon)          1/sqrt(m)  -                -
///     of one spectral norm (Muon)              1          -                -
///     of the weight's (LAMB)                   1/sqrt(m)  1                1
///
/// and within a connection times M^(alpha - 1), for SGD M^(2 alpha - 1). Weight decay per step
/// stays that of the base model in width, and eps goes with the gradient: 1/m, within a connection
/// also M^-alpha (CompleteP, equation 40; EleutherAI/nanoGPT-mup).
///
/// A trained number that is neither a bias nor of a norm counts as one for the whole model, which
/// SGD moves alike at every width.
struct MupRule {
  int64_t base_width = 256;
  int64_t base_head_size = 0;  ///< 0: a head keeps its size
  double attention_multiplier = 1, output_multiplier = 1;
  int64_t base_depth = 0;  ///< blocks of a stack; 0: depth changes nothing
  double alpha = 1;

  /// The facts that a parameter of the base model would have.
  ParameterFacts basis(const ParameterFacts& facts) const;
  /// `std` is that of the base model.
  Scaling scaling(const ParameterFacts& facts, double std, UpdateSize update) const;
  double factor(const FactorFacts& facts) const;

 private:
  double growth(const ParameterFacts& facts) const;
  double depth_growth(const std::optional<ResidualSite>& site) const;
};

}  // namespace ballast
