#pragma once

#include <torch/types.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/parameter.h"
#include "ballast/base/update_size.h"

namespace ballast {

// A parameter counts as the matrix of its first dimension (rows) and all others (columns); where
// its facts say `stacked`, as that many matrices below each other, each for itself.

/// What has a number of its own in a state tensor.
enum class Per { element, row, column, matrix };

/// A tensor that a rule keeps for a parameter from step to step. It starts at zero, and lies in a
/// checkpoint as `<parameter>.<name>`.
struct StateTensor {
  std::string_view name;
  Per per = Per::element;
};

/// The type in which a parameter is updated and its state kept: float64 for float64, else float32.
torch::ScalarType state_type(const torch::Tensor& value);

/// Shape of a state tensor: that of the parameter, [rows], [columns] or [], with [stacked] before
/// the latter three where it is more than one.
std::vector<int64_t> state_shape(const StateTensor& state, const torch::Tensor& value,
                                 int64_t stacked);

/// A state tensor of one parameter.
struct Kept {
  torch::Tensor tensor;
  Per per = Per::element;
};

/// One parameter, or a part of it, as a rule is given it in a step.
struct ParameterStep {
  torch::Tensor value;      ///< updated in place
  torch::Tensor gradient;   ///< undefined: zero; not yet times `gradient_scale`
  std::vector<Kept> state;  ///< in the order of the rule's `state`, updated in place
  double gradient_scale = 1;
  double lr = 0;                              ///< what the schedule says for this step
  double lr_scale = 1;                        ///< what the parameterisation says for this parameter
  bool decays = true;                         ///< false: no weight decay of any sort
  double decay_scale = 1, epsilon_scale = 1;  ///< as the parameterisation says
  int64_t stacked = 1;

  double rate() const { return lr * lr_scale; }
  /// What a rule's weight decay is for this parameter.
  double decay(double weight_decay) const { return decays ? weight_decay * decay_scale : 0; }

  /// The gradient times its scale, a new tensor, and the present weights; both of `state_type`.
  torch::Tensor scaled_gradient() const;
  torch::Tensor weights() const;

  /// value = weights - (decay weights + move); decay is small, so it is kept apart from
  /// 1 - decay, which float32 cannot resolve.
  void change(const torch::Tensor& move, double decay) const;
};

/// What a rule does with one parameter, a matrix of it, or a range of its elements. Called on
/// several threads at once.
using StepFunction = std::function<void(const ParameterStep&)>;

/// Updates ranges of elements side by side (`kernels/sweep.h`), for rules in which an element's
/// update depends on nothing but its own numbers.
void for_elements(std::span<const ParameterStep> all, const StepFunction& update);

/// Updates matrix by matrix, those of a stack apart, each by one thread.
void for_matrices(std::span<const ParameterStep> all, const StepFunction& update);

/// [rows, columns] of a tensor, as a view where it can be one.
torch::Tensor as_matrix(const torch::Tensor& tensor);

/// Root of the mean square, summed in float64; 0 for no element.
double rms(const torch::Tensor& tensor);

/// Why the options of a rule contradict each other, and the one to look at first.
struct RuleProblem {
  std::string option, text;
};

/// An optimizer's rule: a struct of options that also has
///
///     UpdateSize update_size() const;                                how its updates follow the
///     gradient std::vector<StateTensor> state(const ParameterFacts&) const;   what it keeps of a
///     parameter void update(std::span<const ParameterStep>, int64_t t) const;  step t >= 1 of all
///     it serves
///
/// and, where they have something to say,
///
///     bool serves(const ParameterFacts&) const;   absent: every parameter; then `rest` serves the
///                                                 others, an option that holds another rule
///     std::string_view falls_by() const;          the option by which its rate falls with t, under
///                                                 whatever schedule; empty: none does
///     std::vector<RuleProblem> problems() const;  contradictions among its options
template <class Rule>
concept UpdateRule = requires(const Rule& rule, const ParameterFacts& facts,
                              std::span<const ParameterStep> all, int64_t t) {
  { Rule::info } -> std::convertible_to<KindInfo>;
  { rule.lr } -> std::convertible_to<double>;
  { rule.weight_decay } -> std::convertible_to<double>;
  { rule.update_size() } -> std::same_as<UpdateSize>;
  { rule.state(facts) } -> std::same_as<std::vector<StateTensor>>;
  rule.update(all, t);
};

}  // namespace ballast
