#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/coefficient.h"
#include "ballast/base/role.h"

namespace ballast {

/// Factors on the standard deviations of a branch's matrices at the start, by what they do there.
/// They multiply what the initialisation asks for; later nothing reads them.
struct Gains {
  double compare = 1;  ///< query and key
  double read = 1;     ///< value, and the first matrix of a feed-forward layer
  double write = 1;    ///< the matrix whose result is the branch's
  double other = 1;    ///< a matrix of a module that does not say what it is for

  /// 1 for what is no matrix of a branch.
  double of(Role role) const {
    switch (role) {
      case Role::query:
      case Role::key:
        return compare;
      case Role::value:
      case Role::feed_forward_in:
        return read;
      case Role::attention_output:
      case Role::feed_forward_out:
        return write;
      case Role::hidden:
        return other;
      default:
        return 1;
    }
  }

  bool operator==(const Gains&) const = default;
};

/// One gain for all that carries values through a branch, as DeepNorm, Sub-LN and T-Fixup have it.
constexpr Gains value_path(double gain) { return {.read = gain, .write = gain, .other = gain}; }

/// How a residual connection is made (docs/theory.md). With one lane
///
///     x' = N_stream( a * x  +  b * N_branch( f( c * N_read(x) ) ) )
///
/// with a = shortcut, b = branch, c = input. With several lanes x_1 ... x_n
///
///     h    = c * N_read( sum_j read_j N_lane(x_j) )                   N_lane on lanes 1 and up
///     only x_i' = N_stream( sum_j a_ij x_j  +  b_i * N_branch( f(h) ) )    N_stream on lane 0 only
///
/// where a number stands for: a, that number for each lane and itself; b, for every lane; read, for
/// lane 0 alone. A scheme is a function to this and nothing else. The default is x + f(x), without
/// norms.
///
/// Dropout acts on f before N_branch. An N is there where `norms` has its point, and is the
/// identity elsewhere.
///
/// Where `read` has n rows, the lanes are parts of one row: what the n rows read is laid end to end
/// before N_read, and lane i is given the i-th part of what the branch gives.
struct ResidualForm {
  Points norms = {};       ///< of the connection, and inside its branch
  Points head_norms = {};  ///< of each head by itself, at `query`, `key`, `value`, `heads`
  Coefficient shortcut = {}, branch = {}, input = {}, read = {};
  std::vector<PointFactor> factors = {};  ///< further ones, at any point inside
  Points shifts = {};                     ///< trained scalars from 0, added at a point
  Gains gains = {};

  /// Whether the lanes are parts of one row.
  bool reads_parts() const { return read.start.rows() > 1; }

  bool operator==(const ResidualForm&) const = default;
};

/// What surrounds the connections of a stack, which turn lanes x_i into x_i' [N, d]:
///
///     x_i = enter_i N_embedding(e)     and at the end     N_stack( sum_i leave_i N_lane(x_i') )
///
/// with N_lane on lanes 1 and up. The default is one lane without norms.
struct StackForm {
  int lanes = 1;
  bool parts = false;  ///< lanes are equal parts of a row, cut and laid end to end, not copies
  Points norms = {};   ///< at `embedding` and `stack`; at `lane`, on lanes 1 and up at the end
  Grid enter = 1;      ///< one number a lane: what enters, times it; a number stands for all
  Grid leave = 1;      ///< one number a lane: what leaves is the sum; a number stands for all
  std::optional<Gate> leave_gate = {};  ///< makes `leave` follow the stream

  bool operator==(const StackForm&) const = default;
};

/// Blocks of the stack that a site lies in.
inline int layers_of(const ResidualSite& site) {
  return site.stack == Stack::encoder ? site.encoder_layers : site.decoder_layers;
}

/// The steps of a ramp at a site: layer l, from 1, takes l times as many where it goes `by_layer`
/// (ProRes, arXiv:2603.05369).
inline double ramp_steps(int64_t steps, bool by_layer, const ResidualSite& site) {
  return static_cast<double>(steps) * (by_layer ? site.layer + 1 : 1);
}

/// Why a form cannot be executed with so many lanes; empty where it can.
std::string refusal_of(const ResidualForm& form, int lanes);

}  // namespace ballast
