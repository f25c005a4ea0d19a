#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// What a parameter is for. Initialisers, parameterisations, optimizers and folding read roles;
/// nobody reads names.
enum class Role {
  source_embedding,  ///< read by an encoder
  target_embedding,  ///< also a table shared by source, target and output
  position_embedding,
  query,
  key,
  value,
  attention_output,
  feed_forward_in,
  feed_forward_out,
  output,  ///< projection to the vocabulary, when not tied
  hidden,  ///< a matrix of no branch, or of a foreign module; nothing more is known
  bias,
  norm_gain,
  norm_bias,
  shortcut_coefficient,
  branch_coefficient,
  point_factor,   ///< a trained factor at a point, or a coefficient that reads lanes
  point_shift,    ///< a trained scalar added at a point
  lane_gate,      ///< matrix by which a coefficient between lanes follows the stream, from 0
  weight_factor,  ///< trained factors inside the form of a weight
  position_bias,  ///< of the logits of attention, by distance
};

enum class Stack { encoder, decoder };
enum class Sublayer { self_attention, cross_attention, feed_forward };

template <>
struct EnumNames<Stack> {
  static constexpr std::array<std::pair<std::string_view, Stack>, 2> value{
      {{"encoder", Stack::encoder}, {"decoder", Stack::decoder}}};
};

template <>
struct EnumNames<Sublayer> {
  static constexpr std::array<std::pair<std::string_view, Sublayer>, 3> value{
      {{"self_attention", Sublayer::self_attention},
       {"cross_attention", Sublayer::cross_attention},
       {"feed_forward", Sublayer::feed_forward}}};
};

/// True for the tables that turn an id into a vector.
constexpr bool is_embedding(Role role) {
  return role == Role::source_embedding || role == Role::target_embedding ||
         role == Role::position_embedding;
}

/// True for the tensors that weight decay and matrix rules leave alone.
constexpr bool is_vector(Role role) {
  return role == Role::bias || role == Role::norm_gain || role == Role::norm_bias ||
         role == Role::shortcut_coefficient || role == Role::branch_coefficient ||
         role == Role::point_factor || role == Role::point_shift || role == Role::position_bias ||
         role == Role::weight_factor || role == Role::lane_gate;
}

/// True for the matrix whose result is its branch's.
constexpr bool ends_branch(Role role) {
  return role == Role::attention_output || role == Role::feed_forward_out;
}

/// Which residual connection a module serves, counted in its own stack.
struct ResidualSite {
  Stack stack = Stack::encoder;
  Sublayer kind = Sublayer::self_attention;
  int index = 0;  ///< of this connection in its stack, from 0
  int count = 1;  ///< connections in the stack
  int layer = 0;  ///< block, from 0
  int encoder_layers = 0, decoder_layers = 0;
  int64_t d_model = 1;

  /// Blocks of its stack.
  int layers() const { return stack == Stack::encoder ? encoder_layers : decoder_layers; }

  bool operator==(const ResidualSite&) const = default;
};

}  // namespace ballast
