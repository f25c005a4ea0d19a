#pragma once

#include <torch/types.h>

#include <cstdint>

namespace ballast {

/// float64 numbers in (0, 1), element i from Philox(key, counter i / 2): the same for any number of
/// threads, and for any tensor that holds them in the same order.
torch::Tensor uniform_numbers(at::IntArrayRef shape, uint64_t key);

/// float64 numbers of N(0, 1), by the inverse of the distribution function.
torch::Tensor normal_numbers(at::IntArrayRef shape, uint64_t key);

/// float64 numbers of N(0, 1) conditioned on [low, high], by the inverse of the distribution
/// function; never outside the interval.
torch::Tensor truncated_normal_numbers(at::IntArrayRef shape, uint64_t key, double low,
                                       double high);

}  // namespace ballast
