#include "ballast/diagnose/finding_rows.h"

#include <iterator>

namespace ballast {

Evidence evidence_of(const Measurement& measurement, std::string what, double expected) {
  return {measurement.spot.name(), std::move(what), measurement.value, expected};
}

const std::vector<FindingRow>& finding_rows() {
  static const std::vector<FindingRow> rows = [] {
    std::vector<FindingRow> all;
    for (auto* family :
         {value_findings, attention_findings, signal_findings, training_findings, text_findings}) {
      std::vector<FindingRow> some = family();
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  }();
  return rows;
}

}  // namespace ballast
