#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "ballast/recipe/trial.h"

namespace ballast {

/// A finding, and what became of its remedies; nothing where they were not tried.
struct ReportedFinding {
  Finding finding;
  std::vector<TriedRemedy> tried = {};
};

/// All that is known as one object; numbers that are not finite are null.
nlohmann::ordered_json doctor_json(const Examination& examination,
                                   const std::vector<ReportedFinding>& found, Outlook outlook);

/// The same for a reader, on standard output: verdict, main figures, findings.
void print_doctor_page(const Examination& examination, const std::vector<ReportedFinding>& found,
                       Outlook outlook);

/// A line for every measurement.
void print_measurements(const Examination& examination);

}  // namespace ballast
