#pragma once

#include <torch/optim/adam.h>

#include <memory>

#include "ballast/optim/optimizer.h"
#include "ballast/recipe/assemble.h"
#include "bench/stock_transformer.h"

namespace ballast::bench {

/// Seconds of the parts of a training step.
struct StepTime {
  double forward = 0, backward = 0, update = 0;
  double total() const { return forward + backward + update; }
};

/// Loss and L2 norm of the gradient per target token.
struct Gradient {
  double loss = 0, norm = 0;
};

/// The step of `Trainer` on the library's own model.
class OurSide {
 public:
  OurSide(const Recipe& recipe, int64_t vocabulary_size);

  StepTime step(const Batch& batch);

  /// Without dropout; changes nothing.
  Gradient gradient(const Batch& batch);

 private:
  OurSide(const Recipe& recipe, const PlannedModel& planned);
  torch::Tensor summed_loss(const Batch& batch) const;

  TrainOptions options_;
  double lr_;
  std::shared_ptr<Transformer> model_;
  Optimizer optimizer_;
};

/// The same step as one writes it with stock libtorch.
class StockSide {
 public:
  StockSide(const Recipe& recipe, std::unique_ptr<StockModel> model);

  /// Padding is not part of the time: a loader does it ahead.
  StepTime step(const Batch& batch);

  /// Without dropout; changes nothing.
  Gradient gradient(const Batch& batch);

 private:
  TrainOptions options_;
  std::unique_ptr<StockModel> model_;
  torch::optim::Adam optimizer_;
};

/// Raises std::runtime_error unless both sides compute the same loss and gradient norm, within a
/// relative difference.
void check_agreement(const Gradient& ours, const Gradient& stock, double tolerance);

}  // namespace ballast::bench
