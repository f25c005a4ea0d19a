#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ballast/base/named_tensors.h"
#include "ballast/optim/adam_kinds.h"

namespace ballast {

/// A tensor to be trained and what is special about it.
struct OptimizedParameter {
  std::string name;     ///< unique; its state is stored under this name
  torch::Tensor value;  ///< of a floating-point type; its gradient is read from it
  double lr_scale = 1;  ///< times the learning rate, also where that multiplies the weight decay
  bool decays = true;   ///< false: no weight decay of either sort
};

/// Adam and its relatives; which one is decided by the numbers of `update_at`.
///
/// Dense semantics: a parameter, or a row of an embedding table, without a gradient in a step is
/// treated as having gradient zero. Its moments fade and it moves on by its momentum; whoever wants
/// a parameter frozen leaves it out. Moments are float64 for float64 parameters, else float32.
class Optimizer {
 public:
  /// Starts at step 0 with moments zero. RecipeError for a name given twice or a tensor that is not
  /// of a floating-point type.
  Optimizer(const OptimizerChoice& choice, std::vector<OptimizedParameter> parameters);

  /// One update with the gradients times `gradient_scale` (clipping, 1 / tokens and 1 / loss scale
  /// all belong there, so that no gradient is touched twice). RecipeError when a number is not
  /// finite; nothing has changed then.
  void step(double lr, double gradient_scale = 1);

  /// Drops all gradients; the next backward pass starts anew.
  void clear_gradients();

  int64_t steps() const { return steps_; }  ///< updates made so far
  std::span<const OptimizedParameter> parameters() const { return parameters_; }

  /// `steps`, an int64 scalar, then `<parameter>.first_moment` and `<parameter>.second_moment` of
  /// every parameter. The moments are the live tensors, not copies.
  NamedTensors state() const;

  /// Takes over a state with exactly these names, shapes and types. StoreError names the first that
  /// is missing, unknown or different; nothing has changed then.
  void load_state(const NamedTensors& state);

 private:
  struct Moments {
    torch::Tensor first, second;
  };

  OptimizerChoice choice_;
  std::vector<OptimizedParameter> parameters_;
  std::vector<Moments> moments_;
  int64_t steps_ = 0;
};

}  // namespace ballast
