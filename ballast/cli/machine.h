#pragma once

#include <torch/types.h>

#include <string>

namespace CLI {
class App;
}

namespace ballast {

/// Flags that say where a verb computes. They never change what it computes.
struct Machine {
  int threads = 0;  ///< 0: all cores
  std::string device = "auto";

  void add_to(CLI::App& verb);

  /// Lets one library own the threads, keeps freed memory in the process, and returns the device.
  /// Throws RecipeError for a device there is not.
  torch::Device prepare() const;
};

/// Peak resident memory of this process, in bytes.
int64_t peak_memory();

}  // namespace ballast
