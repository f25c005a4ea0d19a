#pragma once

#include <torch/types.h>

#include <string>
#include <string_view>

#include "ballast/base/precision.h"

namespace CLI {
class App;
}

namespace ballast {

/// Flags that say where a verb computes. They never change what it computes.
struct Machine {
  int threads = 0;  ///< 0: all cores
  std::string device = "auto";
  bool slow_bf16 = false;  ///< compute bf16 also where float32 would be faster
  bool pooled = true;      ///< large tensors in memory of their own, see `pool_large_tensors`

  void add_to(CLI::App& verb);

  /// Lets one library own the threads, keeps freed memory in the process, and returns the device.
  /// Throws RecipeError for a device there is not.
  torch::Device prepare() const;

  /// Throws RecipeError when `option` asks for a precision that would be slow on `device` and
  /// `slow_bf16` does not allow it.
  void admit(std::string_view option, Precision precision, torch::Device device) const;
};

/// Peak resident memory of this process, in bytes.
int64_t peak_memory();

}  // namespace ballast
