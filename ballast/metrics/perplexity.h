#pragma once

#include <cstdint>

namespace ballast {

/// exp(nll / tokens), where `nll_sum_nats` is the sum of -ln p over `tokens` predicted tokens.
/// Throws `DataError` without tokens.
double perplexity(double nll_sum_nats, int64_t tokens);

}  // namespace ballast
