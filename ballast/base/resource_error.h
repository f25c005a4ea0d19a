#pragma once

#include "ballast/base/error.h"

namespace ballast {

/// Memory, threads or another thing that the machine does not have (exit code 1).
class ResourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace ballast
