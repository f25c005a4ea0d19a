#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <string>
#include <vector>

#include "ballast/base/parameter.h"

namespace ballast {

/// One distinct parameter of a model.
struct InventoryEntry {
  std::string name;  ///< path as in `named_parameters`
  torch::Tensor tensor;
  ParameterFacts facts;
  /// Table two's factor of the forward pass, in the module; null where there is none.
  double* multiplier = nullptr;
  Grid start = 0;  ///< value of a vector before training, or its elements one by one
  std::function<torch::Tensor()> derived = {};  ///< see `ParameterSlot`
};

/// One factor of a model that table two decides.
struct FactorEntry {
  std::string module;  ///< path of the module in which it stands
  FactorFacts facts;
  double* value = nullptr;  ///< in the module, which has to outlive this
};

/// All of a model that table two decides on.
struct Inventory {
  std::vector<InventoryEntry> parameters;  ///< each once
  std::vector<FactorEntry> factors;        ///< those that belong to no tensor
};

/// Every parameter and factor of a module, with what it is for, in the order of its modules.
///
/// Works on foreign modules too: torch's own Linear, LayerNorm and Embedding get roles by type, any
/// other parameter is `hidden` (a matrix) or `bias` (a vector). What surrounds a module completes
/// its facts (`Surrounding`). Throws std::logic_error for a `Described` module that forgets one of
/// its parameters: it would be neither initialised nor trained nor saved.
Inventory inventory(torch::nn::Module& model);

}  // namespace ballast
