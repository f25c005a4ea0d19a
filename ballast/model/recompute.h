#pragma once

#include <torch/types.h>

#include <functional>

namespace ballast {

/// Whether training keeps what is computed inside of a block until its backward pass.
enum class Activations { kept, recomputed };

/// A part of a forward pass as a function of all tensors that lead backwards out of it; the second
/// one may be undefined.
using ForwardPart =
    std::function<torch::Tensor(const torch::Tensor& x, const torch::Tensor& memory)>;

/// part(x, memory) that keeps its arguments only: the backward pass runs the part once more and
/// then through it (Chen et al. 2016, arXiv:1604.06174).
///
/// The part must give the same bits both times; then so do all gradients. Those of its parameters
/// are added to their `grad`, so this serves `backward`, not a gradient by chosen inputs. Where x
/// carries no gradient, nothing would lead back to the part, and it is run like any other code.
torch::Tensor recomputed(ForwardPart part, const torch::Tensor& x, const torch::Tensor& memory);

}  // namespace ballast
