#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string_view>

#include "ballast/base/precision.h"
#include "ballast/verbs/flags.h"

namespace ballast {

/// Lets one library own the threads, keeps freed memory in the process, and returns the device.
/// Throws RecipeError for a device there is not.
torch::Device set_up_machine(const MachineFlags& flags);

/// Throws RecipeError when `option` asks for a precision that would be slow on `device` and the
/// flags do not allow it.
void admit(const MachineFlags& flags, std::string_view option, Precision precision,
           torch::Device device);

/// Peak resident memory of this process, in bytes.
int64_t peak_memory();

}  // namespace ballast
