#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "ballast/base/error.h"

namespace ballast {

/// Runs an operation of std::filesystem; throws StoreError with `path` and the system's reason
/// where it fails.
template <class Operation>
auto checked(const std::filesystem::path& path, Operation operation) {
  try {
    return operation();
  } catch (const std::filesystem::filesystem_error& error) {
    throw StoreError(fmt::format("{}: {}", path.string(), error.code().message()));
  }
}

}  // namespace ballast
