#pragma once

#include <torch/types.h>

namespace ballast {

// Products in which only some pairs of rows take part, for references: unlike a factor of 0, which
// makes NaN of what is not finite, they leave the other pairs out, forward and in every derivative.

/// right_s . left_t for the s that row t sees, else 0: left [..., T, K], right [..., S, K], `seen`
/// bool that expands to the result [..., T, S].
torch::Tensor products_of_seen(const torch::Tensor& left, const torch::Tensor& right,
                               const torch::Tensor& seen);

/// sum_s weights_ts rows_s over the s that row t sees: weights [..., T, S], 0 where not seen, rows
/// [..., S, K]; returns [..., T, K].
torch::Tensor sums_of_seen(const torch::Tensor& weights, const torch::Tensor& rows,
                           const torch::Tensor& seen);

}  // namespace ballast
