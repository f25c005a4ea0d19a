#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/diagnose/examination.h"
#include "ballast/diagnose/gauges.h"

namespace ballast {

// When a training has failed, the first quantity that left its range tells where it began.

/// A quantity that leaves its range. It has done so where it is beyond `limit` and has changed from
/// the first sample by more than a factor `growth`; beyond infinity is what is not finite.
struct SymptomRow {
  enum class Side { above, below };

  std::string_view name;
  Quantity quantity;
  std::optional<Point> point;
  Side side;
  double limit, growth;
  std::string_view what;    ///< the number is, with its unit
  std::string_view reason;  ///< in one sentence
  std::string_view source;
  std::vector<std::string> (*remedy)(const TrainingFacts&);
};

/// All symptoms that are looked for; of two that begin at one step, the cause comes first.
const std::vector<SymptomRow>& symptom_rows();

/// What was seen, where it was seen first; `evidence.expected` is the value of the first sample.
struct Symptom {
  const SymptomRow* row = nullptr;
  int64_t step = 0;
  Evidence evidence;
};

/// By step.
std::vector<Symptom> symptoms(const History& history);

/// The chain of evidence as text, the first symptom on top with its reason, source and remedy.
std::string post_mortem(const History& history, const TrainingFacts& training);

}  // namespace ballast
