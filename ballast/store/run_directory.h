#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ballast/base/fields.h"
#include "ballast/base/named_tensors.h"
#include "ballast/store/run_lock.h"

namespace ballast {

/// All that a training needs to go on from a step as if it had never stopped.
struct SavedStep {
  NamedTensors model, optimizer;
  nlohmann::json state;
};

/// The step that was best so far, by which measure.
struct BestStep {
  int64_t step = 0;
  std::string metric;  ///< for example "validation_loss"
  double value = 0;

  static constexpr auto fields() {
    return std::make_tuple(field("step", &BestStep::step, "the saved step"),
                           field("metric", &BestStep::metric, "what was measured"),
                           field("value", &BestStep::value, "what it was"));
  }
  bool operator==(const BestStep&) const = default;
};

/// The directory of one training run:
///
///     recipe.toml  log.jsonl  events.out.tfevents.*  tokenizer.model  best.json  test.json  lock
///     step-00008000/{model.safetensors, optimizer.safetensors, state.json}
///
/// Whatever instant the process is killed at, a name without the ending `.partial` is complete. All
/// members throw StoreError with the path and what to do.
class RunDirectory {
 public:
  /// Opens for writing: makes the directory when there is none, takes its lock until destruction
  /// (see `RunLock`) and removes what a killed run left unfinished. Files that no run writes stay
  /// as they are.
  static RunDirectory open_or_create(const std::filesystem::path& path);

  /// Opens for reading, without a lock, also on a medium that cannot be written.
  static RunDirectory open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }
  std::filesystem::path model_file(int64_t step) const;

  /// The steps that were saved, rising.
  std::vector<int64_t> steps() const;
  std::optional<int64_t> last_complete_step() const;

  /// A step is written once; saving one that exists is refused.
  void save_step(int64_t step, const NamedTensors& model, const NamedTensors& optimizer,
                 const nlohmann::json& state);

  /// A damaged step is refused, never skipped: the message names the file and the step before it.
  SavedStep load_step(int64_t step) const;
  NamedTensors load_model(int64_t step) const;

  /// Deletes all steps but the last `keep` (at least one) and the best.
  void prune(int64_t keep);

  /// Remembers a saved step as the best, for `best` and `prune`. The value must be finite.
  void set_best(const BestStep& best);
  std::optional<BestStep> best() const;

  /// A small file of the run, replaced as a whole. `name` has no directory in it.
  void write_text(std::string_view name, std::string_view text);
  std::string read_text(std::string_view name) const;
  /// Does nothing when there is no such file.
  void remove_text(std::string_view name);

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  void check_writable() const;
  void check_saved(int64_t step) const;
  void discard_step(int64_t step);
  std::filesystem::path step_directory(int64_t step) const;
  std::string way_back(int64_t damaged) const;

  std::filesystem::path path_;
  std::optional<RunLock> lock_;  ///< empty when opened for reading
};

}  // namespace ballast
