#pragma once

#include "ballast/recipe/coordinate_check.h"

namespace ballast::verbs {

/// A table of slopes for widths and one for depths, or one object with all that was measured.
void print_coordinates(const Recipe& recipe, const CoordinateCheck& check,
                       const CoordinateReports& reports, bool json);

}  // namespace ballast::verbs
