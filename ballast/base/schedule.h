#pragma once

#include <cstdint>
#include <functional>

namespace ballast {

/// A value that depends on the step; step 0 is before the first update, the first update is step 1.
using Schedule = std::function<double(int64_t step)>;

}  // namespace ballast
