#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ballast/base/named_tensors.h"
#include "ballast/base/parameter.h"
#include "ballast/optim/rules.h"

namespace ballast {

/// A tensor to be trained and what is special about it.
struct OptimizedParameter {
  std::string name;           ///< unique; its state is stored under this name
  torch::Tensor value;        ///< of a floating-point type; its gradient is read from it
  double lr_scale = 1;        ///< times the learning rate, also where that multiplies a decay
  ParameterFacts facts = {};  ///< which rule serves it, whether it decays
  double decay_scale = 1;     ///< times the weight decay
  double epsilon_scale = 1;   ///< times the eps that is added to an element's mean gradient
};

/// Keeps names, state and the count of steps; the rules of the choice (`optim/rule.h`) update, each
/// the parameters it is the first to serve.
///
/// Dense semantics: a parameter, or a row of an embedding table, without a gradient in a step is
/// treated as having gradient zero. Its means fade and it moves on by its momentum; whoever wants
/// a parameter frozen leaves it out. State is float64 for float64 parameters, else float32.
class Optimizer {
 public:
  /// Starts at step 0 with a state of zeros. RecipeError for a name given twice, a tensor that is
  /// not of a floating-point type, or one that cannot be cut into as many matrices as its facts
  /// say.
  Optimizer(const OptimizerChoice& choice, std::vector<OptimizedParameter> parameters);

  /// One update with the gradients times `gradient_scale` (clipping, 1 / tokens and 1 / loss scale
  /// all belong there, so that no gradient is touched twice). RecipeError when a number is not
  /// finite; nothing has changed then.
  void step(double lr, double gradient_scale = 1);

  /// Drops all gradients; the next backward pass starts anew.
  void clear_gradients();

  int64_t steps() const { return steps_; }  ///< updates made so far
  std::span<const OptimizedParameter> parameters() const { return parameters_; }

  /// `steps`, an int64 scalar, then `<parameter>.<name>` of all that its rule keeps of a parameter:
  /// `first_moment` and `second_moment` of Adam. They are the live tensors, not copies.
  NamedTensors state() const;

  /// Takes over a state with exactly these names, shapes and types. StoreError names the first that
  /// is missing, unknown or different; nothing has changed then.
  void load_state(const NamedTensors& state);

 private:
  /// What the rule that serves a parameter keeps of it.
  struct Share {
    size_t rule = 0;
    std::vector<StateTensor> names;
    std::vector<Kept> state;
  };

  Share share_of(const OptimizedParameter& parameter) const;
  ParameterStep step_of(size_t parameter, double lr, double gradient_scale) const;

  std::vector<SharedRule> rules_;
  std::vector<OptimizedParameter> parameters_;
  std::vector<Share> shares_;  // one for each parameter
  int64_t steps_ = 0;
};

}  // namespace ballast
