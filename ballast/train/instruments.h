#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "ballast/diagnose/symptoms.h"
#include "ballast/train/training_parts.h"

namespace ballast {

/// How a training is done, as far as findings and symptoms ask.
TrainingFacts training_facts(const OptimizerChoice& optimizer, const ScheduleChoice& schedule,
                             const TrainOptions& options);

/// Looks at a model while it trains: one pass forward and back over a few sequences of the training
/// text, always the same ones, beside the training and without a trace in it.
class Instruments {
 public:
  /// `parts` must outlive this.
  explicit Instruments(const TrainingParts& parts) : parts_(parts) {}

  /// After 1, 2, 4, ... updates, then every `instruments_every`.
  bool is_due(int64_t step) const;

  /// Of the model as it is; no gradients are left. Not to be called between backward pass and
  /// update.
  std::vector<Extremes> measure();

 private:
  const TrainingParts& parts_;
  std::optional<Batch> probe_;
};

/// `{"gauges":{"stream":{"smallest":1.0,"smallest_at":"decoder.0...","largest":...},...}}`, what is
/// not finite as null.
nlohmann::ordered_json gauges_record(const std::vector<Extremes>& extremes);

/// What a log holds of gauges. Throws StoreError for a line that is no record.
History history_in(const std::filesystem::path& log);

}  // namespace ballast
