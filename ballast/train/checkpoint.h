#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <optional>

#include "ballast/base/named_tensors.h"
#include "ballast/data/batch_stream.h"
#include "ballast/optim/optimizer.h"
#include "ballast/store/run_directory.h"
#include "ballast/train/stability_guard.h"
#include "ballast/train/training_parts.h"

namespace ballast {

/// Every distinct parameter and buffer of a model under its path, as `model.safetensors` holds
/// them.
NamedTensors named_state(torch::nn::Module& model);

/// A saved state of a model or its optimizer under the names that parameters have today.
NamedTensors with_present_names(NamedTensors state);

/// Copies values into the model. Throws StoreError naming the first tensor that is missing, unknown
/// or of another shape; nothing has changed then.
void load_named_state(torch::nn::Module& model, const NamedTensors& state);

/// What a training step changes, beside the values of the model.
struct TrainingState {
  Optimizer optimizer;
  BatchStream stream;
  StabilityGuard guard;

  /// Updates made so far. A skipped step is none, so schedule and optimizer stay where they are.
  int64_t step() const { return optimizer.steps(); }
};

/// The saved steps of a run: each holds the model and its `TrainingState`, so that a training goes
/// on from it to the bit, and which step was the best by then.
class Checkpoints {
 public:
  /// Both must outlive this.
  Checkpoints(const TrainingParts& parts, RunDirectory& directory);

  /// The step a run goes on from; 0 for a new one.
  int64_t last() const { return directory_.last_complete_step().value_or(0); }

  /// Saves the state's step, which was not saved before, and deletes the steps that nobody needs
  /// any more. Throws StoreError.
  void save(const TrainingState& state, const std::optional<BestStep>& best);

  /// Takes over what was saved and returns which step was the best then. Throws DataError when the
  /// step was trained on another text, StoreError when it is damaged or of another model.
  std::optional<BestStep> load(int64_t step, TrainingState& state) const;

 private:
  const TrainingParts& parts_;
  RunDirectory& directory_;
  uint64_t fingerprint_;  // of the training text, whose length a save should not depend on
};

}  // namespace ballast
