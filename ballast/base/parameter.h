#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ballast/base/role.h"

namespace ballast {

/// What a rule may know of a parameter: initialisers and parameterisations are functions of this.
struct ParameterFacts {
  Role role = Role::hidden;
  int64_t fan_in = 1;                ///< columns of a matrix; the width of a vector or an embedding
  int64_t fan_out = 1;               ///< rows of a matrix; the ids of an embedding
  std::optional<ResidualSite> site;  ///< of the residual connection whose branch it belongs to
};

/// One parameter of a module, as the module itself describes it.
struct ParameterSlot {
  std::string_view name;  ///< as registered, for example "weight"
  torch::Tensor tensor;
  ParameterFacts facts;
  double* multiplier = nullptr;  ///< of the forward pass, null where there is none
  double start = 0;              ///< value of a vector before training
};

/// A module that knows what its parameters are for, so that nobody has to guess from names.
class Described {
 public:
  virtual ~Described() = default;
  virtual std::vector<ParameterSlot> describe() = 0;
};

}  // namespace ballast
