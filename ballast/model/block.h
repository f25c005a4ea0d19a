#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <span>
#include <vector>

#include "ballast/layers/attention.h"
#include "ballast/layers/branch.h"
#include "ballast/layers/feed_forward.h"
#include "ballast/model/options.h"
#include "ballast/residual/residual.h"

namespace ballast {

/// A branch and the residual connection around it.
struct Connection {
  std::shared_ptr<Branch> branch;
  std::shared_ptr<Residual> residual;
};

/// One layer of a stack: its connections in forward order.
class Block : public torch::nn::Module {
 public:
  /// The layer of a stack with this number, from 0. RecipeError where a connection's form cannot be
  /// executed.
  Block(const ModelOptions& options, Stack stack, int layer);

  /// Whole sequences, lanes [N, d] that are rows of `around.segments`; without a memory in a block
  /// that does not cross-attend.
  ResidualStream forward(ResidualStream stream, const Surroundings& around) const;

  /// One token per hypothesis, lanes [B, d], or whole sequences; `caches` has one for each
  /// connection, in their order, and gets keys and values of what is fed.
  ResidualStream step(ResidualStream stream, std::span<BranchCache> caches,
                      const Reading& reading) const;

  /// The connection of a kind, which the block has. Its branch is a `SelfAttention`, a
  /// `CrossAttention` or a `FeedForward`.
  const Connection& at(Sublayer kind) const;
  template <class Kind>
  Kind& branch(Sublayer kind) const {
    return dynamic_cast<Kind&>(*at(kind).branch);
  }

  std::vector<Connection> connections;  ///< 3 in a decoder with a source, else 2
};

}  // namespace ballast
