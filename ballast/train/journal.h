#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <vector>

#include "ballast/store/run_directory.h"
#include "ballast/train/instruments.h"
#include "ballast/train/log.h"
#include "ballast/train/progress.h"
#include "ballast/train/step_report.h"
#include "ballast/train/tensorboard.h"

namespace ballast {

/// What a run tells of itself: records in `log.jsonl`, scalars in TensorBoard's event file, lines
/// for whoever watches. All members throw StoreError when a file cannot be written.
class Journal {
 public:
  /// A run that goes on after `resumed_step` (0: a new one) forgets what was told of later steps.
  /// `out` must outlive the journal; `last_step` is where the run is to end.
  Journal(const RunDirectory& directory, int64_t resumed_step, std::ostream& out, Terminal terminal,
          int64_t last_step);

  /// What the log says of `resumed_step`, all its records taken together; null without one.
  const nlohmann::json& resumed() const { return log_.resumed(); }

  void step(int64_t step, const StepReport& report);

  /// What instruments showed after a step.
  void gauges(int64_t step, const std::vector<Extremes>& extremes);

  /// `values` stand in log and events under their own names, `text` is the line. The record is on
  /// the disk when this returns.
  void validation(int64_t step, const nlohmann::ordered_json& values, std::string_view text);

  void show(const ProgressPoint& point) { progress_.show(point); }
  void note(std::string_view text) { progress_.note(text); }

  /// Waits until all records are on the disk; to be called before a step is saved.
  void sync() { log_.sync(); }

 private:
  RunLog log_;
  EventWriter events_;
  Progress progress_;
};

}  // namespace ballast
