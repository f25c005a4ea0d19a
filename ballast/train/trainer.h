#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "ballast/data/batch_stream.h"
#include "ballast/data/tokenizer.h"
#include "ballast/decode/options.h"
#include "ballast/model/transformer.h"
#include "ballast/optim/optimizer.h"
#include "ballast/optim/schedules.h"
#include "ballast/prepare/initialize.h"
#include "ballast/store/run_directory.h"
#include "ballast/train/log.h"
#include "ballast/train/options.h"
#include "ballast/train/progress.h"
#include "ballast/train/tensorboard.h"

namespace ballast {

/// What a training is made of. The model has its values; those of a saved step replace them.
struct TrainingParts {
  std::shared_ptr<Transformer> model;
  Plan plan;
  OptimizerChoice optimizer;
  ScheduleChoice schedule;
  TrainOptions options;
  DecodeOptions decode;
  std::shared_ptr<const EncodedCorpus> train, valid;  ///< valid may be null
  std::shared_ptr<const Tokenizer> tokenizer;         ///< of the target side
  uint64_t seed = 1;
};

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
/// saved before it is validated, so that nothing that happens in a validation can cost one; a
/// validation that was cut short, or given up for a stop request, is made up for on resuming.
class Trainer {
 public:
  /// `directory` and `out` must outlive the trainer. Throws StoreError for a damaged step.
  Trainer(TrainingParts parts, RunDirectory& directory, std::ostream& out, Terminal terminal);

  /// Trains until the last step, a stop request (saved first), or no more improvement. Throws
  /// DivergenceError; the steps saved before stay as they are.
  TrainingSummary run(const std::stop_token& stop = {});

  /// Updates made so far. A skipped step is none, so schedule and optimizer stay where they are.
  int64_t step() const { return optimizer_.steps(); }

 private:
  struct StepReport {
    double loss = 0, nll = 0, gradient_norm = 0;  ///< per target token
    double lr = 0;
    int64_t tokens = 0;
    bool applied = true;
  };

  StepReport train_step();
  StepReport accumulated();
  void after_step(const StepReport& report, const std::stop_token& stop);
  void record(const StepReport& report);
  bool validates_now() const;
  void validate();
  void consider(double validation_loss);
  void name_best();
  void save();
  void resume(int64_t step);
  [[noreturn]] void diverged(const StepReport& report, const std::string& reason) const;
  bool is_due(int64_t every) const { return every > 0 && step() % every == 0; }
  bool is_last() const { return step() == parts_.options.steps; }
  bool has_given_up() const;

  TrainingParts parts_;
  RunDirectory& directory_;
  Optimizer optimizer_;
  Schedule schedule_;
  BatchStream stream_;
  StabilityGuard guard_;
  RunLog log_;
  EventWriter events_;
  Progress progress_;
  std::chrono::steady_clock::time_point begun_;
  uint64_t fingerprint_;  // of the training text, whose length a save should not depend on
  std::optional<BestStep> best_;
  bool owes_validation_ = false;  // of the present step, which is saved
  int64_t tokens_ = 0;            // target tokens of this process
};

}  // namespace ballast
