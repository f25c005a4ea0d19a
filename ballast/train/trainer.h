#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <stop_token>
#include <string>

#include "ballast/train/checkpoint.h"
#include "ballast/train/instruments.h"
#include "ballast/train/journal.h"
#include "ballast/train/training_parts.h"
#include "ballast/train/validation.h"

namespace ballast {

/// Why a run ended.
enum class Ending { complete, stopped, no_improvement };

/// What a run did, for the last lines that a person reads.
struct TrainingSummary {
  Ending ending = Ending::complete;
  int64_t step = 0;
  int64_t tokens = 0;  ///< target tokens of this process
  double seconds = 0;  ///< of this process, validation and checkpoints included
  double loss = 0;     ///< of the last step, nats per token
};

/// The training loop. Resumes from the last complete step of the directory, bit for bit. A step is
/// saved before it is validated, so that nothing that happens in a validation can cost one.
class Trainer {
 public:
  /// `directory` and `out` must outlive the trainer. Throws StoreError for a damaged step.
  Trainer(TrainingParts parts, RunDirectory& directory, std::ostream& out, Terminal terminal);
  Trainer(const Trainer&) = delete;  // its parts refer to each other

  /// Trains until the last step, a stop request (saved first), or no more improvement. Throws
  /// DivergenceError, with the post-mortem, which lies in `post-mortem.txt` then; the steps saved
  /// before stay as they are.
  TrainingSummary run(const std::stop_token& stop = {});

  int64_t step() const { return state_.step(); }

 private:
  StepReport train_step();
  void after_step(const StepReport& report, const std::stop_token& stop);
  void save();
  [[noreturn]] void diverged(const StepReport& report, const std::string& reason);
  bool is_due(int64_t every) const { return every > 0 && step() % every == 0; }
  bool is_last() const { return step() == parts_.options.steps; }
  double seconds() const;

  TrainingParts parts_;
  Schedule schedule_;
  TrainingState state_;
  Checkpoints checkpoints_;
  Journal journal_;
  Validation validation_;
  Instruments instruments_;
  RunDirectory& directory_;
  std::chrono::steady_clock::time_point begun_;
  int64_t tokens_ = 0;  // target tokens of this process
};

}  // namespace ballast
