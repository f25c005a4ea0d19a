#include "ballast/metrics/perplexity.h"

#include <fmt/format.h>

#include <cmath>

#include "ballast/base/error.h"

namespace ballast {

double perplexity(double nll_sum_nats, int64_t tokens) {
  if (tokens < 1) {
    throw DataError(fmt::format("perplexity of {} tokens; expected at least one", tokens));
  }
  return std::exp(nll_sum_nats / static_cast<double>(tokens));
}

}  // namespace ballast
