#pragma once

#include <functional>
#include <string>

#include "ballast/base/error.h"

namespace ballast::testing {

/// What the DataError says that `work` throws; "no error" when it throws none. Other errors pass.
inline std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace ballast::testing
