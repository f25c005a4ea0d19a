#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ballast/layers/dropout.h"
#include "ballast/layers/pointed.h"
#include "ballast/residual/form.h"
#include "ballast/residual/gate.h"

namespace ballast {

/// The function a residual connection goes around: [N, d] to [N, d].
using BranchFunction = std::function<torch::Tensor(const torch::Tensor&)>;

/// What flows through a stack: one tensor [N, d] per lane.
struct ResidualStream {
  std::vector<torch::Tensor> lanes;
};

struct ResidualOptions {
  ResidualForm form;
  NormChoice norm;
  double dropout = 0;  ///< probability, on the branch's output, before N_branch
  ResidualSite site;
  int lanes = 1;
  /// The module whose function this goes around: so its parameters get their site, and the gains of
  /// the form. Null: nobody tells them.
  std::shared_ptr<const torch::nn::Module> around = {};
};

/// Executes any `ResidualForm`. The only place that joins a branch to its shortcut.
class Residual : public Pointed, public Surrounding {
 public:
  /// Coefficients that a layer owns are those of `first_of_layer`, if there is one.
  /// RecipeError where the form cannot be executed, see `refusal_of`.
  explicit Residual(const ResidualOptions& options, const Residual* first_of_layer = nullptr);

  /// x' of `ResidualForm`, [N, d], of a stream with one lane; `branch` is called once.
  /// Norms that read more than a row need the `sequences` of the rows.
  torch::Tensor forward(const torch::Tensor& x, const BranchFunction& branch,
                        const Segments* sequences = nullptr) const;
  /// The same for as many lanes as there are, each [N, d].
  ResidualStream forward(const ResidualStream& stream, const BranchFunction& branch,
                         const Segments* sequences = nullptr) const;

  const ResidualForm& form() const { return options_.form; }
  const ResidualSite& site() const { return options_.site; }

  /// The coefficients in force now, of one lane: [] or [d].
  struct Coefficients {
    torch::Tensor shortcut, branch, input;
  };
  Coefficients acting_coefficients() const;

  /// Sets a profiled shortcut coefficient everywhere to omega. Only where the form has one.
  void set_profiled_shortcut(double omega) const;

  /// The shortcut coefficient in force now, with its ramp and the factor of table two: of a vector
  /// the mean, of several lanes that of the first. What a gate adds is not in it.
  double acting_shortcut() const;

  /// Coefficients, gates, and what stands at the connection's points.
  std::vector<ParameterSlot> describe() override;
  /// Table two's, of the shortcut and of the branch.
  std::vector<FactorSlot> factors() override;
  /// This and the branch's module, whose facts it completes by the site and the gains of the form.
  std::vector<const torch::nn::Module*> surrounded() const override;
  void complete(ParameterFacts& facts) const override;
  void complete(FactorFacts& facts) const override;

  /// Trained or profiled coefficients: [] or [d]; with n lanes shortcut [n, n] (before permutations
  /// [n!]), branch [n], read [n] or, of parts, [n, n].
  torch::Tensor shortcut, branch, input, read;

 private:
  torch::Tensor store(const std::string& name, const Coefficient& coefficient,
                      const torch::Tensor& of_layer);
  Factor factor(const Coefficient& coefficient, const torch::Tensor& stored,
                double multiplier) const;
  Factor acting(const Coefficient& coefficient, double start, const torch::Tensor& stored,
                double multiplier) const;
  std::vector<torch::Tensor> weighed(const Coefficient& coefficient, const torch::Tensor& stored,
                                     const StoredGate& gate, double multiplier,
                                     const std::vector<torch::Tensor>& lanes,
                                     const std::vector<torch::Tensor>& seen) const;
  torch::Tensor gated_by_row(const Coefficient& coefficient, const torch::Tensor& stored,
                             const StoredGate& gate, double multiplier,
                             const std::vector<torch::Tensor>& seen) const;
  torch::Tensor read_lanes(const std::vector<torch::Tensor>& lanes,
                           const Segments* sequences) const;
  std::vector<torch::Tensor> joined_lanes(const std::vector<torch::Tensor>& lanes,
                                          const torch::Tensor& f, const Segments* sequences) const;

  ResidualOptions options_;
  std::shared_ptr<Dropout> dropout_;
  StoredGate shortcut_gate_, branch_gate_, read_gate_;
  double shortcut_multiplier_ = 1, branch_multiplier_ = 1;  // of table two
};

/// What may stand at the points of a branch, as its form has it.
Standing standing_of(const ResidualForm& form, const NormChoice& norm);

}  // namespace ballast
