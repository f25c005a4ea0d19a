#pragma once

#include <span>
#include <vector>

#include "ballast/diagnose/subject.h"
#include "ballast/optim/rules.h"

namespace ballast {

/// By what the weights are changed to see how much the output does.
enum class Perturbation {
  random,    ///< each element of a matrix by +- `size` times the root mean square of its tensor
  gradient,  ///< against the sign of its gradient: the first step of Adam, with that rate
};

/// Mean square change of the stream after each connection, rows brought to a second moment of 1
/// first, in evaluation mode: E |F(x, W) - F(x, W*)|^2 of Liu et al. 2020 (arXiv:2004.08249,
/// theorem 2; METHODS 6.3), a mean over `draws` changes. Adds one `output_change` for each
/// connection and stack. Vectors are left alone, as is the model afterwards.
void measure_output_change(const Subject& subject, Perturbation by, double size, int64_t draws,
                           Measurements& found);

/// y ~ slope x + offset by least squares, and how much of the variance of y it explains.
struct Line {
  double slope = 0, offset = 0, r2 = 0;
};
Line fitted_line(std::span<const double> x, std::span<const double> y);

/// Running sums: of own shares, what theorem 2 says that the output change is in proportion to.
std::vector<double> running_sums(std::span<const double> values);

/// Largest eigenvalue of P^-1/2 H P^-1/2 per token, H the Hessian of the loss on the batch and P
/// what the optimizer divides a gradient by at its first step: of an optimizer that follows the
/// gradient 1, of the others sqrt(g^2) + a thousandth of its mean (Cohen et al. 2022,
/// arXiv:2207.14484), each times 1 / lr_scale. By Lanczos' iteration; products with H are
/// differences of gradients, so no second derivative is asked of any kernel. Evaluation mode.
struct Sharpness {
  double largest = 0;       ///< eigenvalue
  double largest_rate = 0;  ///< above it gradient descent with this P and momentum is unstable
};
Sharpness preconditioned_sharpness(const Subject& subject, UpdateSize update, double momentum,
                                   int64_t iterations = 12);

}  // namespace ballast
