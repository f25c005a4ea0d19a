#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/model/block.h"
#include "ballast/model/recompute.h"

namespace ballast {

/// The blocks of an encoder or decoder, and the norm after them where the scheme needs one.
class BlockStack : public torch::nn::Module, public Bound {
 public:
  BlockStack(const ModelOptions& options, Stack stack, bool cross_attention);

  /// x [N, d]; memory for a cross-attending stack, else null.
  torch::Tensor forward(const torch::Tensor& x, const Segments& segments,
                        const Memory* memory = nullptr) const;

  /// One token per hypothesis, see `Block::step`.
  torch::Tensor step(const torch::Tensor& x, std::vector<BlockCache>& caches,
                     const Reading& reading) const;

  /// Empty caches, with the memory projected for every block.
  std::vector<BlockCache> caches(const Memory& memory) const;

  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Norm> final_norm;  ///< null where the scheme needs none

  /// Changes no bit of a result. `recomputed` holds in training mode while nobody watches.
  Activations activations = Activations::kept;

 private:
  bool recomputes() const;
  ForwardPart part_of(const std::shared_ptr<Block>& block, const Segments& segments,
                      const Memory* memory) const;
  torch::Tensor finished(const torch::Tensor& x) const;
};

}  // namespace ballast
