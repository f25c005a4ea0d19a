#pragma once

#include <span>
#include <vector>

namespace ballast {

/// Admin's omegas of a stack with the given variances of its branches (Liu et al. 2020,
/// arXiv:2004.08249): omega_1 = 1, omega_2^2 = input_variance + Var f_1, and from there
/// omega_{i+1}^2 = omega_i^2 + Var f_i, since a normalised stream has variance 1. One for each
/// branch; the last branch's variance reaches none.
std::vector<double> expected_omegas(double input_variance, std::span<const double> branches);

}  // namespace ballast
