#pragma once

#include <filesystem>
#include <vector>

#include "ballast/store/file.h"

namespace ballast {

/// The right to write into a run directory, held until destruction. Then, as long as nothing of a
/// run was written there, lock and directory go again where this made them: a training that did not
/// begin binds a directory to nothing.
class RunLock {
 public:
  /// Makes the directory when there is none. Throws StoreError while another process (or object)
  /// holds the lock, and for a directory that is no run but has files under the names of one.
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(RunLock&&) = default;
  RunLock& operator=(RunLock&&) = delete;

  /// Whether a training had written to the directory before.
  bool found_run() const { return found_run_; }

 private:
  bool attempt();

  std::filesystem::path directory_;
  Descriptor file_;
  std::vector<std::filesystem::path> made_;  // folders, the inner ones last
  bool made_lock_ = false, found_run_ = false;
};

}  // namespace ballast
