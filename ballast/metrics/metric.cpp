#include "ballast/metrics/metric.h"

namespace ballast {

std::vector<double> LineStatistics::sums() const {
  std::vector<double> sums(width);
  for (size_t at = 0; at < values.size(); ++at) sums[at % width] += values[at];
  return sums;
}

}  // namespace ballast
