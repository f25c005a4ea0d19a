#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ballast/store/file.h"

namespace ballast {

/// The log of a run, one JSON object a line: `{"step":12,"loss":3.5,...}`. A number that is not
/// finite is written as null, since JSON has no other word for it.
///
/// A resumed run drops the records of steps it will do again, so its log equals that of a run that
/// was never stopped, as far as the values do (times would not).
class RunLog {
 public:
  /// Opens the log for appending, keeps the records with step <= `resumed_step` (0 for a new run)
  /// and drops the rest, with a last line that was cut off by a kill. Throws StoreError when
  /// another line is not a record.
  RunLog(std::filesystem::path path, int64_t resumed_step);

  /// What the records of `resumed_step` say, taken together; null where there is none.
  const nlohmann::json& resumed() const { return resumed_; }

  /// Writes one line at once. The order of `values` is kept. Throws StoreError when the disk is
  /// full.
  void append(int64_t step, const nlohmann::ordered_json& values);

  /// Waits until all lines are on the disk; to be called before a step is saved.
  void sync();

 private:
  std::filesystem::path path_;
  Descriptor file_;
  nlohmann::json resumed_;
};

}  // namespace ballast
