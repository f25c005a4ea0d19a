#pragma once

#include <cstdint>

namespace ballast {

/// What a parameter is for. Initialisers, parameterisations, optimizers and folding read roles;
/// nobody reads names.
enum class Role {
  source_embedding,
  target_embedding,  ///< also a table shared by source, target and output
  position_embedding,
  query,
  key,
  value,
  attention_output,
  feed_forward_in,
  feed_forward_gate,
  feed_forward_out,
  output,  ///< projection to the vocabulary, when not tied
  hidden,  ///< a matrix of a foreign module, nothing more is known
  bias,
  norm_gain,
  norm_bias,
  shortcut_coefficient,
  branch_coefficient,
};

enum class Stack { encoder, decoder };
enum class Sublayer { self_attention, cross_attention, feed_forward };

/// True for the matrices that carry values through a branch: the ones DeepNorm, Sub-LN and T-Fixup
/// scale.
constexpr bool is_value_path(Role role) {
  return role == Role::value || role == Role::attention_output || role == Role::feed_forward_in ||
         role == Role::feed_forward_gate || role == Role::feed_forward_out;
}

/// True for the tables that turn an id into a vector.
constexpr bool is_embedding(Role role) {
  return role == Role::source_embedding || role == Role::target_embedding ||
         role == Role::position_embedding;
}

/// True for the tensors that weight decay and matrix rules leave alone.
constexpr bool is_vector(Role role) {
  return role == Role::bias || role == Role::norm_gain || role == Role::norm_bias ||
         role == Role::shortcut_coefficient || role == Role::branch_coefficient;
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

  bool operator==(const ResidualSite&) const = default;
};

}  // namespace ballast
