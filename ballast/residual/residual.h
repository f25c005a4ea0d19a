#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>

#include "ballast/layers/dropout.h"
#include "ballast/norm/norm.h"
#include "ballast/residual/form.h"

namespace ballast {

/// The function a residual connection goes around: [N, d] to [N, d].
using Branch = std::function<torch::Tensor(const torch::Tensor&)>;

struct ResidualOptions {
  ResidualForm form;
  NormChoice norm;
  double dropout = 0;  ///< on the branch's output, before N_mid
  ResidualSite site;
};

/// Executes any `ResidualForm`. The only place that joins a branch to its shortcut.
///
/// Probes, in order: "shortcut" (x), "branch" (f after dropout, only while watched), "output".
class Residual : public torch::nn::Module, public Bound, public Described {
 public:
  explicit Residual(const ResidualOptions& options);

  torch::Tensor forward(const torch::Tensor& x, const Branch& branch) const;

  const ResidualForm& form() const { return options_.form; }
  const ResidualSite& site() const { return options_.site; }

  /// Sets a profiled shortcut coefficient everywhere to omega.
  void set_profiled_shortcut(double omega);

  /// Uses another connection's trained branch coefficient as its own.
  void share_branch_coefficient(Residual& owner);

  std::vector<ParameterSlot> describe() override;

  std::shared_ptr<Norm> norm_in, norm_mid, norm_out;  ///< null where the form has none
  torch::Tensor shortcut, branch, input;              ///< trained or profiled a, b, c: [] or [d]

 private:
  Factor factor(const Coefficient& coefficient, const torch::Tensor& stored) const;
  torch::Tensor store(const std::string& name, const Coefficient& coefficient);
  std::shared_ptr<Norm> make_norm(const std::string& name, bool present);

  ResidualOptions options_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace ballast
