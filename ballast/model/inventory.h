#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "ballast/base/parameter.h"

namespace ballast {

/// One distinct parameter of a model.
struct InventoryEntry {
  std::string name;  ///< path as in `named_parameters`
  torch::Tensor tensor;
  ParameterFacts facts;
  double* multiplier = nullptr;  ///< null where the forward pass has none
  double start = 0;              ///< value of a vector before training
};

/// Every parameter of a module once, with what it is for.
///
/// Works on foreign modules too: torch's own Linear, LayerNorm and Embedding get roles by type, any
/// other parameter is `hidden` (a matrix) or `bias` (a vector).
std::vector<InventoryEntry> inventory(torch::nn::Module& model);

}  // namespace ballast
