#pragma once

#include <nlohmann/json.hpp>

#include "bench/step_measurement.h"

namespace ballast::bench {

/// Medians of a measurement and what follows from them. Keys of our side end with the precision.
nlohmann::ordered_json summary(const StepRequest& request, const StepMeasurement& measured);

/// The same for a reader.
std::string table_of(const nlohmann::ordered_json& summary);

}  // namespace ballast::bench
