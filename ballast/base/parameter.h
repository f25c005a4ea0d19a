#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/base/coefficient.h"
#include "ballast/base/role.h"

namespace ballast {

/// What a parameter may know of the whole model; zeros where nobody says.
struct ModelFacts {
  int encoder_layers = 0, decoder_layers = 0;
  int64_t d_model = 0;
  double dropout = 0;  ///< after the embeddings and on every branch
};

/// E f^2 and E f'^2 of a function of N(0, 1); of a pair f(g) u the slopes for g and for u together.
/// Both are 1 where there is none.
struct SecondMoments {
  double value = 1;
  double slope = 1;
};

/// What a rule may know of a parameter: initialisers, parameterisations and optimizers are
/// functions of this. A module says what it knows itself; what surrounds it adds the rest
/// (`Surrounding`).
struct ParameterFacts {
  Role role = Role::hidden;
  int64_t fan_in = 1;   ///< columns of a matrix; the width of a vector or an embedding
  int64_t fan_out = 1;  ///< rows of one matrix; the ids of an embedding
  int64_t stacked = 1;  ///< matrices of this shape in the one weight, below each other
  std::optional<ResidualSite> site =
      {};                          ///< of the connection it belongs to: branch, norm or factor
  double gain = 1;                 ///< what the scheme asks of its standard deviation
  std::optional<bool> decay = {};  ///< absent: matrices decay, vectors do not
  int64_t head_width = 0;          ///< features of a head, of the matrices of an attention
  SecondMoments activation = {};   ///< of the function between the matrices of a feed-forward layer
  double shortcut = 1, branch = 1;  ///< factors of the connection at the start, of the first lane
  ModelFacts model = {};

  /// Whether weight decay acts on it.
  bool decays() const { return decay.value_or(!is_vector(role)); }
};

/// One parameter of a module, as the module itself describes it.
struct ParameterSlot {
  std::string_view name;  ///< as registered, for example "weight"
  torch::Tensor tensor;
  ParameterFacts facts;
  double* multiplier = nullptr;  ///< of the forward pass, null where there is none
  Grid start = 0;                ///< value of a vector before training, or its elements one by one
  /// A start that follows from other parameters: called when these are drawn. In place of `start`.
  std::function<torch::Tensor()> derived = {};
};

/// What table two may know of a factor that stands at a point and belongs to no tensor.
struct FactorFacts {
  Point point = Point::scores;
  int64_t width = 1;  ///< features of a row there; K at `scores`
  std::optional<ResidualSite> site = {};
};

/// A factor of the forward pass that table two decides.
struct FactorSlot {
  FactorFacts facts;
  double* value = nullptr;
};

/// A module that knows what its parameters and factors are for, so that nobody has to guess from
/// names.
class Described {
 public:
  virtual ~Described() = default;
  /// Every parameter that the module itself registers, submodules aside.
  virtual std::vector<ParameterSlot> describe() = 0;
  virtual std::vector<FactorSlot> factors() { return {}; }
};

/// A module that stands around others and knows more of their parameters than they do.
class Surrounding {
 public:
  virtual ~Surrounding() = default;
  /// The modules it stands around; what it knows holds for their submodules too.
  virtual std::vector<const torch::nn::Module*> surrounded() const = 0;
  virtual void complete(ParameterFacts& facts) const = 0;
  virtual void complete(FactorFacts& facts) const = 0;
};

}  // namespace ballast
