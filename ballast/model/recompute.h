#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

namespace ballast {

/// Whether training keeps what is computed inside of a block until its backward pass, or only what
/// enters it: less memory for one more forward pass.
enum class Activations { kept, recomputed };

/// A part of a forward pass as a function of all tensors that lead backwards out of it. What it
/// reads otherwise must carry no gradient: a captured tensor's own graph would be walked again by
/// each part.
using ForwardPart = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>&)>;

/// part(inputs) that keeps its arguments only: the backward pass runs the part once more and then
/// through it (Chen et al. 2016, arXiv:1604.06174). All inputs are defined.
///
/// The part must give the same bits both times; then so do all gradients. Those of its parameters
/// are added to their `grad`, so this serves `backward`, not a gradient by chosen inputs. Where no
/// input carries a gradient, nothing would lead back to the part, and it is run like any other
/// code. Gradients of gradients are refused with RecipeError.
std::vector<torch::Tensor> recomputed(ForwardPart part, const std::vector<torch::Tensor>& inputs);

}  // namespace ballast
