#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/data/packed_batch.h"
#include "ballast/diagnose/measurement.h"
#include "ballast/model/transformer.h"
#include "ballast/values/plan.h"

namespace ballast {

/// A model at a moment of its life, and a batch on which it is looked at.
struct Subject {
  Transformer& model;
  const Plan& plan;  ///< of the model
  const Batch& batch;
  CrossEntropyOptions loss = {};
};

/// Which spot a module's points lie at.
class Spots {
 public:
  explicit Spots(const Transformer& model);

  /// Nothing for a module that stands for no spot.
  std::optional<Spot> of(const Passing& passing) const;

 private:
  void add(const BlockStack* stack, Stack name);

  std::map<const Bound*, Spot> spots_;
};

/// The mode and running statistics that a model had, again when this is destroyed; gradients are
/// dropped. Until then blocks keep what they compute, since one that computes again would be seen
/// twice. The model has to outlive it.
class Untouched {
 public:
  explicit Untouched(Transformer& model);
  ~Untouched();
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;

 private:
  Transformer& model_;
  bool was_training_;
  Activations activations_;
  std::vector<torch::Tensor> buffers_;
};

/// Forward and backward pass in the model's present mode; the loss is a sum over the targets.
/// Gradients are left in the parameters.
CrossEntropy differentiated(const Subject& subject);

}  // namespace ballast
