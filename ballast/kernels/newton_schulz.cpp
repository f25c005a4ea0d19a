#include "ballast/kernels/newton_schulz.h"

#include <torch/utils.h>

#include <cmath>

#include "ballast/kernels/matmul.h"
#include "ballast/kernels/select.h"
#include "ballast/kernels/sum_of_squares.h"

namespace ballast {
namespace {

constexpr double a = 3.4445, b = -4.7750, c = 2.0315;

/// Runs `iterate` on the wide one of the matrix and its transpose, at Frobenius norm 1.
template <class Iterate>
torch::Tensor normalised_then(const torch::Tensor& matrix, double epsilon, const Iterate& iterate) {
  const torch::NoGradGuard no_grad;
  const bool tall = matrix.size(0) > matrix.size(1);
  const double norm = std::sqrt(sum_of_squares({&matrix, 1}));
  const torch::Tensor wide = (tall ? matrix.t() : matrix).contiguous() / (norm + epsilon);
  const torch::Tensor made = iterate(wide);
  return tall ? made.t() : made;
}

}  // namespace

torch::Tensor newton_schulz(const torch::Tensor& matrix, int64_t steps, double epsilon) {
  if (!fused_serves(matrix)) return newton_schulz_reference(matrix, steps, epsilon);
  return normalised_then(matrix, epsilon, [&](torch::Tensor x) {
    torch::Tensor gram = torch::empty({x.size(0), x.size(0)}, x.options());
    for (int64_t step = 0; step < steps; ++step) {
      matmul_into(gram, x, x.t());
      const torch::Tensor polynomial = gram * b;
      add_matmul(polynomial, gram, gram, c);
      const torch::Tensor next = x * a;
      add_matmul(next, polynomial, x);
      x = next;
    }
    return x;
  });
}

torch::Tensor newton_schulz_reference(const torch::Tensor& matrix, int64_t steps, double epsilon) {
  return normalised_then(matrix, epsilon, [&](torch::Tensor x) {
    for (int64_t step = 0; step < steps; ++step) {
      const torch::Tensor gram = x.mm(x.t());
      x = x * a + (gram * b + gram.mm(gram) * c).mm(x);
    }
    return x;
  });
}

}  // namespace ballast
