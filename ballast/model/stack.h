#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "ballast/layers/pointed.h"
#include "ballast/model/block.h"
#include "ballast/model/recompute.h"

namespace ballast {

/// What a decoding keeps: one cache for each connection of a stack, in forward order.
using StackCache = std::vector<BranchCache>;

/// The blocks of an encoder or decoder, and what the scheme puts around them.
class BlockStack : public Pointed {
 public:
  /// RecipeError where the scheme's form cannot be executed.
  BlockStack(const ModelOptions& options, Stack stack);

  /// What enters the first block of embedded rows [N, d], before their dropout.
  torch::Tensor entering(const torch::Tensor& embedded, const Segments* sequences = nullptr) const {
    return at(Point::embedding, embedded, sequences);
  }

  /// x [N, d], rows of `around.segments` that passed `entering` and dropout, to rows [N, d]: all
  /// blocks in order, within what `StackForm` puts around them.
  torch::Tensor forward(const torch::Tensor& x, const Surroundings& around) const;

  /// One token per hypothesis, x [B, d], or whole sequences, [N, d], to rows of the same number.
  /// `cache` is one that `cache()` made.
  torch::Tensor step(const torch::Tensor& x, StackCache& cache, const Reading& reading) const;

  /// What a step reads of the places of its tokens, for rows such as `like`.
  RelativePlaces places(const Reading& reading, const torch::TensorOptions& like) const;

  std::vector<ParameterSlot> describe() override;

  /// An empty cache, with the memory projected for every connection that reads it.
  StackCache cache(const Memory& memory) const;

  std::vector<std::shared_ptr<Block>> blocks;

  /// Changes no bit of a result. `recomputed` holds in training mode while nobody watches.
  Activations activations = Activations::kept;

 private:
  bool recomputes() const;
  ResidualStream recomputed_block(const std::shared_ptr<Block>& block, const ResidualStream& stream,
                                  const Surroundings& around) const;
  ResidualStream entered(const torch::Tensor& x) const;
  torch::Tensor left(const ResidualStream& stream, const Segments* sequences) const;
  torch::Tensor summed(const std::vector<torch::Tensor>& lanes) const;

  StackForm form_;
  Coefficient leave_;
  StoredGate leave_gate_;
  std::shared_ptr<RelativePositions> positions_;  // null where attention knows none
};

}  // namespace ballast
