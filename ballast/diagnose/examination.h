#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/schedule.h"
#include "ballast/base/update_size.h"
#include "ballast/data/corpus.h"
#include "ballast/diagnose/measurement.h"
#include "ballast/diagnose/rehearsal.h"
#include "ballast/diagnose/sensitivity.h"
#include "ballast/model/options.h"

namespace ballast {

/// What a text is like, by its ids.
struct TextFacts {
  int64_t sequences = 0;
  double dropped_share = 0;       ///< of the pairs, empty or too long
  double repeated_share = 0;      ///< sequences (with their source) that stood before
  double copied_share = 0;        ///< pairs whose source is their target
  double unknown_share = 0;       ///< ids that are the unknown piece
  double length_correlation = 1;  ///< of the two sides' lengths; 1 without a source
  double tokens_per_id = 0;       ///< of the text, for each id of the vocabulary
  double unigram_entropy = 0;  ///< of the target's ids, nats: the loss of knowing only how frequent
};

/// `unknown_source` and `unknown_target`: ids of the unknown pieces, -1 where there are none.
/// `joint`: whether an id means the same on both sides.
struct TextSides {
  int64_t unknown_source = -1, unknown_target = -1, vocabulary = 1;
  bool joint = true;
  int64_t sequences = 100'000;  ///< that are looked at, from the first
};
TextFacts text_facts(const EncodedCorpus& corpus, const TextSides& sides);

/// How a model is to be trained, as far as a finding asks.
struct TrainingFacts {
  UpdateSize update = UpdateSize::adaptive;  ///< of the matrices
  double peak_lr = 0, first_lr = 0;
  int64_t steps = 0;
  int64_t warmup = 0;  ///< the first step with the largest rate, less 1
  double label_smoothing = 0;
  double clip_norm = 0;
  bool bf16 = false;
};

TrainingFacts schedule_facts(const Schedule& schedule, int64_t steps);

/// Everything that is known of a recipe before its first step.
struct Examination {
  ModelOptions model;
  TrainingFacts training;
  TextFacts text;
  Measurements measurements;
  std::optional<Sharpness> sharpness = {};
  std::optional<Rehearsal> rehearsal = {};
};

enum class Severity { note, warning, error };

template <>
struct EnumNames<Severity> {
  static constexpr std::array<std::pair<std::string_view, Severity>, 3> value{
      {{"note", Severity::note}, {"warning", Severity::warning}, {"error", Severity::error}}};
};

/// A number beside what it should be.
struct Evidence {
  std::string where;
  std::string what;  ///< what the number is, with its unit
  double measured = 0, expected = 0;
};

/// A cause that was found.
struct Finding {
  std::string_view name, reason, source;
  Severity severity = Severity::note;
  Evidence evidence;
  std::vector<std::string> remedy;  ///< overrides of the recipe, each to help alone, the best first
};

/// A cause to look for. A row is a pure function of the examination; a cause that explains another
/// comes before it in the list and silences it.
struct FindingRow {
  std::string_view name;
  Severity severity;
  std::string_view reason;  ///< in one sentence
  std::string_view source;
  std::optional<Evidence> (*look)(const Examination&);
  std::vector<std::string> (*remedy)(const Examination&);
  std::vector<std::string_view> explains = {};
};

/// All rows, causes before what they cause.
const std::vector<FindingRow>& finding_rows();

/// What is found, the worst first, in the order of the list.
std::vector<Finding> findings(const Examination& examination);

/// What a training is expected to do, by its findings: `will_diverge` for an error, `fragile` for a
/// warning.
enum class Outlook { stable, fragile, will_diverge };

template <>
struct EnumNames<Outlook> {
  static constexpr std::array<std::pair<std::string_view, Outlook>, 3> value{
      {{"stable", Outlook::stable},
       {"fragile", Outlook::fragile},
       {"will diverge", Outlook::will_diverge}}};
};

Outlook outlook(const std::vector<Finding>& found);

}  // namespace ballast
