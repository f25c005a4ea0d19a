#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace ballast {

/// A tensor under the name it has in a file.
struct NamedTensor {
  std::string name;
  torch::Tensor value;
};

using NamedTensors = std::vector<NamedTensor>;

}  // namespace ballast
