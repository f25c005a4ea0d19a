#include "ballast/theory/admin.h"

#include <cmath>

namespace ballast {

std::vector<double> expected_omegas(double input_variance, std::span<const double> branches) {
  std::vector<double> omegas;
  double square = 1, stream = input_variance;
  for (const double branch : branches) {
    omegas.push_back(std::sqrt(square));
    square = square * stream + branch;
    stream = 1;
  }
  return omegas;
}

}  // namespace ballast
