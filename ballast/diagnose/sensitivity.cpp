#include "ballast/diagnose/sensitivity.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ballast/init/draw.h"

namespace ballast {
namespace {

struct StreamRows {
  Spot spot;
  torch::Tensor rows;  // [N, d], second moment 1
};

std::vector<StreamRows> streams_of(const Subject& subject) {
  const torch::NoGradGuard no_grad;
  const Spots spots(subject.model);
  std::vector<StreamRows> streams;
  const Watch watch(
      subject.model.context(), [&](const Passing& passing, const torch::Tensor& value) {
        if (passing.point != Point::stream && passing.point != Point::stack) return value;
        if (const auto spot = spots.of(passing)) {
          const torch::Tensor x = value.to(torch::kFloat64);
          streams.push_back({*spot, x / x.square().mean(1, true).sqrt().clamp_min(1e-30)});
        }
        return value;
      });
  subject.model.forward(subject.batch.source, subject.batch.target_input);
  return streams;
}

/// The matrices of a plan, and what they held, which they hold again afterwards.
class Matrices {
 public:
  explicit Matrices(const Plan& plan) {
    const torch::NoGradGuard no_grad;
    for (const PlannedParameter& each : plan.parameters) {
      if (is_vector(each.entry.facts.role)) continue;
      planned_.push_back(&each);
      kept_.push_back(each.entry.tensor.detach().clone());
    }
  }
  ~Matrices() { restore(); }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;

  size_t count() const { return planned_.size(); }
  const PlannedParameter& planned(size_t i) const { return *planned_[i]; }
  const torch::Tensor& kept(size_t i) const { return kept_[i]; }

  void restore() const {
    move([](size_t) { return torch::Tensor(); });
  }

  /// Every matrix becomes what was kept plus a direction of its own.
  void move(const std::function<torch::Tensor(size_t)>& direction) const {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < planned_.size(); ++i) {
      torch::Tensor now = planned_[i]->entry.tensor.detach();
      const torch::Tensor step = direction(i);
      now.copy_(step.defined() ? kept_[i] + step : kept_[i]);
    }
  }

  std::vector<torch::Tensor> gradients() const {
    std::vector<torch::Tensor> all;
    for (size_t i = 0; i < planned_.size(); ++i) {
      const torch::Tensor& gradient = planned_[i]->entry.tensor.grad();
      all.push_back(gradient.defined() ? gradient.detach().clone() : torch::zeros_like(kept_[i]));
    }
    return all;
  }

 private:
  std::vector<const PlannedParameter*> planned_;
  std::vector<torch::Tensor> kept_;
};

torch::Tensor signs_like(const torch::Tensor& x, uint64_t key) {
  return drawn({Distribution::normal, 1}, x.sizes(), key).sign().to(x.options());
}

double root_mean_square(const torch::Tensor& x) {
  return x.to(torch::kFloat64).square().mean().sqrt().item<double>();
}

double dot(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += (a[i].to(torch::kFloat64) * b[i].to(torch::kFloat64)).sum().item<double>();
  }
  return sum;
}

/// D with P^-1 = D^2: by it directions of the weights are measured.
std::vector<torch::Tensor> half_inverse(const Matrices& matrices, UpdateSize update,
                                        double tokens) {
  const torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = matrices.gradients();
  std::vector<torch::Tensor> all;
  for (size_t i = 0; i < matrices.count(); ++i) {
    const torch::Tensor g = gradients[i].abs() / tokens;
    const torch::Tensor p =
        update == UpdateSize::gradient ? torch::ones_like(g) : g + 1e-3 * g.mean().clamp_min(1e-30);
    all.push_back((matrices.planned(i).scaling.lr_scale / p).sqrt());
  }
  return all;
}

using Direction = std::vector<torch::Tensor>;

/// Of a symmetric operator, by Lanczos' iteration from a start: never above the largest, and from
/// below in a few steps, since it stands apart.
double largest_eigenvalue(const std::function<Direction(const Direction&)>& times, Direction v,
                          int64_t iterations) {
  std::vector<double> diagonal, beside;
  Direction before;
  double length = std::sqrt(dot(v, v));
  for (int64_t iteration = 0; iteration < iterations && length > 0 && std::isfinite(length);
       ++iteration) {
    if (iteration > 0) beside.push_back(length);
    for (torch::Tensor& each : v) each = each / length;
    Direction next = times(v);
    diagonal.push_back(dot(next, v));
    for (size_t i = 0; i < v.size(); ++i) {
      next[i] = next[i] - v[i] * diagonal.back();
      if (!before.empty()) next[i] = next[i] - before[i] * length;
    }
    before = std::move(v);
    v = std::move(next);
    length = std::sqrt(dot(v, v));
  }
  if (diagonal.empty()) return NAN;
  const torch::Tensor matrix = torch::diag(torch::tensor(diagonal, torch::kFloat64)) +
                               torch::diag(torch::tensor(beside, torch::kFloat64), 1) +
                               torch::diag(torch::tensor(beside, torch::kFloat64), -1);
  return torch::linalg_eigvalsh(matrix, "L").max().item<double>();
}

}  // namespace

void measure_output_change(const Subject& subject, Perturbation by, double size, int64_t draws,
                           Measurements& found) {
  const Untouched untouched(subject.model);
  subject.model.eval();
  const Matrices matrices(subject.plan);
  std::vector<torch::Tensor> gradients;
  if (by == Perturbation::gradient) {
    differentiated(subject);
    gradients = matrices.gradients();
  }
  const std::vector<StreamRows> before = streams_of(subject);
  std::vector<double> changes(before.size(), 0);
  for (int64_t draw = 0; draw < draws; ++draw) {
    matrices.move([&](size_t i) {
      if (by == Perturbation::gradient) {
        return gradients[i].sign() * (-size * matrices.planned(i).scaling.lr_scale);
      }
      const auto key = static_cast<uint64_t>(draw) * 1'000'003 + i;
      return signs_like(matrices.kept(i), key) * (size * root_mean_square(matrices.kept(i)));
    });
    const std::vector<StreamRows> after = streams_of(subject);
    for (size_t i = 0; i < before.size(); ++i) {
      changes[i] += (after[i].rows - before[i].rows).square().mean().item<double>() /
                    static_cast<double>(draws);
    }
  }
  for (size_t i = 0; i < before.size(); ++i) {
    found.add({Quantity::output_change, before[i].spot, changes[i], std::nullopt});
  }
}

Line fitted_line(std::span<const double> x, std::span<const double> y) {
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return {slope, mean_y - slope * mean_x, yy > 0 ? slope * xy / yy : 1};
}

std::vector<double> running_sums(std::span<const double> values) {
  std::vector<double> sums;
  double sum = 0;
  for (const double value : values) sums.push_back(sum += value);
  return sums;
}

Sharpness preconditioned_sharpness(const Subject& subject, UpdateSize update, double momentum,
                                   int64_t iterations) {
  const Untouched untouched(subject.model);
  subject.model.eval();
  const Matrices matrices(subject.plan);
  const double tokens = static_cast<double>(std::max<int64_t>(differentiated(subject).tokens, 1));
  const std::vector<torch::Tensor> half = half_inverse(matrices, update, tokens);
  double weight = 0;
  std::vector<torch::Tensor> start;
  for (size_t i = 0; i < matrices.count(); ++i) {
    start.push_back(signs_like(matrices.kept(i), i + 1));
    weight += matrices.kept(i).to(torch::kFloat64).square().sum().item<double>();
  }
  const auto times_hessian = [&](const std::vector<torch::Tensor>& v) {
    std::vector<torch::Tensor> step;
    for (size_t i = 0; i < v.size(); ++i) step.push_back(v[i] * half[i]);
    // A thousandth of the weights' own length: far above the rounding of gradients, and small
    // beside the distance over which curvature changes.
    const double reach = 1e-3 * std::sqrt(weight) / std::sqrt(dot(step, step));
    const auto gradient_at = [&](double distance) {
      matrices.move([&](size_t i) { return step[i] * distance; });
      differentiated(subject);
      return matrices.gradients();
    };
    const std::vector<torch::Tensor> ahead = gradient_at(reach), behind = gradient_at(-reach);
    std::vector<torch::Tensor> product;
    for (size_t i = 0; i < v.size(); ++i) {
      product.push_back((ahead[i] - behind[i]) / (2 * reach * tokens) * half[i]);
    }
    return product;
  };
  const double largest = largest_eigenvalue(times_hessian, std::move(start), iterations);
  const double bound = (2 + 2 * momentum) / (1 - (update == UpdateSize::gradient ? 0 : momentum));
  return {largest, largest > 0 ? bound / largest : INFINITY};
}

}  // namespace ballast
