#pragma once

#include <torch/types.h>

#include <span>
#include <string>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/model/stack.h"
#include "ballast/values/affine.h"

namespace ballast {

/// A scale of the stream, float64, [] or [d].
using Scale = torch::Tensor;

inline Scale number(double value) { return torch::full({}, value, torch::kDouble); }

bool is_one(const Scale& scale);

RecipeError unfoldable(const std::string& reason);

/// RecipeError where a number is 0.
Scale one_over(const Scale& scale);

/// All of a stack, in forward order.
std::vector<const Connection*> connections_of(const BlockStack& stack);

/// One stack of a model and the scales of its stream in the plain one (`gauges`).
struct FoldedStack {
  explicit FoldedStack(const BlockStack& given);

  /// The last norm, if it stays: what leaves the stack is its result. Null where none does.
  const Norm* last_norm() const;

  const BlockStack& stack;
  std::vector<Scale> scales;
  Affine leaving;  ///< what the plain stack leaves, to what this one does
};

/// Names norms before branches with the eps that rows of another size need.
void name_norms(std::span<const FoldedStack* const> stacks, const ModelOptions& before,
                ModelOptions& plain);

}  // namespace ballast
