#pragma once

#include <cstdint>
#include <optional>

#include "ballast/store/run_directory.h"
#include "ballast/train/journal.h"
#include "ballast/train/training_parts.h"

namespace ballast {

/// The validations of a run: after which steps they are due, which saved step is the best by them,
/// and when they say that no more is to be expected.
///
/// A step is saved before it is validated, so a validation can be owed: one that was cut short, or
/// given up for a stop request, is made up for on resuming. The log tells, whose record of a
/// validation is written after the best step has its name.
class Validation {
 public:
  /// All three must outlive this.
  Validation(const TrainingParts& parts, RunDirectory& directory, Journal& journal)
      : parts_(parts), directory_(directory), journal_(journal) {}

  /// Goes on after a saved step: with what was best when it was saved, and what the journal says of
  /// its validation. For a new run: step 0 and nothing.
  void resume(int64_t step, const std::optional<BestStep>& best);

  /// The model is at `step` now; its validation is owed if one is due there.
  void reach(int64_t step);

  bool is_owed() const { return is_owed_; }

  /// Loss, perplexity, of a language model bits by byte, and, where the options ask for it, BLEU of
  /// the validation text with the model as it is at `step`, which is saved: names the best step,
  /// tells the journal, deletes the steps that nobody needs any more.
  void run(int64_t step);

  /// The step of the lowest loss so far.
  const std::optional<BestStep>& best() const { return best_; }

  /// True after `patience` validations without a lower loss.
  bool has_given_up(int64_t step) const;

 private:
  bool is_due(int64_t step) const;
  void consider(int64_t step, double loss);
  void name_best();

  const TrainingParts& parts_;
  RunDirectory& directory_;
  Journal& journal_;
  std::optional<BestStep> best_;
  bool is_owed_ = false;
};

}  // namespace ballast
