#pragma once

#include "ballast/verbs/module.h"

namespace ballast {

/// The verbs that need libtorch; opens their module on first use. Raises StoreError with the places
/// that were looked at when it is not there.
const Verbs& load_verbs();

}  // namespace ballast
