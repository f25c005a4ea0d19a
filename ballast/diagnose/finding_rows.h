#pragma once

#include <vector>

#include "ballast/diagnose/examination.h"

namespace ballast {

// The rows of `finding_rows`, by family. Thresholds stand beside the rule that reads them.

std::vector<FindingRow> value_findings();      ///< of the parameters themselves
std::vector<FindingRow> attention_findings();  ///< of queries, keys and their softmax
std::vector<FindingRow> signal_findings();     ///< of what flows forward and back
std::vector<FindingRow> training_findings();   ///< of rates, batches and losses
std::vector<FindingRow> text_findings();       ///< of the data

/// Evidence from a measurement.
Evidence evidence_of(const Measurement& measurement, std::string what, double expected);

}  // namespace ballast
