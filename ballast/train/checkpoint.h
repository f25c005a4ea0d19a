#pragma once

#include <torch/nn/module.h>

#include "ballast/base/named_tensors.h"

namespace ballast {

/// Every distinct parameter and buffer of a model under its path, as `model.safetensors` holds
/// them.
NamedTensors named_state(torch::nn::Module& model);

/// A saved state of a model or its optimizer under the names that parameters have today.
NamedTensors with_present_names(NamedTensors state);

/// Copies values into the model. Throws StoreError naming the first tensor that is missing, unknown
/// or of another shape; nothing has changed then.
void load_named_state(torch::nn::Module& model, const NamedTensors& state);

}  // namespace ballast
