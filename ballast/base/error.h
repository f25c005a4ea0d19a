#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ballast {

/// Base of everything Ballast throws. The text says what was found, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A recipe, option or command line that cannot be carried out (exit code 2).
class RecipeError : public Error {
 public:
  using Error::Error;
};

/// Text or numbers that cannot be read as the data they should be (exit code 3).
class DataError : public Error {
 public:
  using Error::Error;
};

/// A run directory or model file that cannot be read or written (exit code 3).
class StoreError : public Error {
 public:
  using Error::Error;
};

/// Memory, threads or another thing that the machine does not have (exit code 1).
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// What a diverged run looked like when it was stopped.
struct Divergence {
  int64_t step = 0;
  double loss = 0;
  double gradient_norm = 0;
  std::string tensor;  ///< first tensor with a non-finite value, empty when all are finite
};

/// Training left the region from which it returns (exit code 4).
class DivergenceError : public Error {
 public:
  DivergenceError(const std::string& what, Divergence evidence)
      : Error(what), evidence(std::move(evidence)) {}

  Divergence evidence;
};

/// Work that was asked to stop before it was done (exit code 5). The text says what is kept.
class Stopped : public Error {
 public:
  using Error::Error;
};

}  // namespace ballast
