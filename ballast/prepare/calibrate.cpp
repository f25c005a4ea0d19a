#include "ballast/prepare/calibrate.h"

#include <array>
#include <cmath>
#include <map>
#include <string>

#include "ballast/base/moments.h"

namespace ballast {
namespace {

std::map<std::string, Residual*, std::less<>> residuals_by_path(Transformer& model) {
  std::map<std::string, Residual*, std::less<>> found;
  for (const auto& item : model.named_modules({}, /*include_self=*/false)) {
    if (auto* residual = dynamic_cast<Residual*>(item.value().get())) found[item.key()] = residual;
  }
  return found;
}

bool is_profiled(const Residual& residual) {
  return residual.form().shortcut.source == Coefficient::Source::profiled;
}

/// Watches one forward pass and sets each omega as soon as what precedes it is known.
class Profiler {
 public:
  explicit Profiler(Transformer& model) : residuals_(residuals_by_path(model)) {}

  torch::Tensor observe(const ProbePoint& point, const torch::Tensor& value) {
    const auto found = residuals_.find(point.module);
    if (found == residuals_.end()) return value;
    if (point.name == "shortcut") enter(*found->second, value);
    if (point.name == "branch") leave(*found->second, value);
    return value;
  }

  Profile profile;

 private:
  void enter(Residual& residual, const torch::Tensor& x) {
    const double omega =
        is_profiled(residual) ? next_omega(residual) : residual.form().shortcut.value;
    if (is_profiled(residual)) residual.set_profiled_shortcut(omega);
    profile.push_back({residual.site(), omega, moments(x).variance(), 0});
  }

  void leave(Residual& residual, const torch::Tensor& f) {
    ProfiledSite& measured = profile.back();
    measured.branch_variance = moments(f).variance();
    next_omega(residual) = std::sqrt(measured.omega * measured.omega * measured.shortcut_variance +
                                     measured.branch_variance);
  }

  double& next_omega(const Residual& residual) {
    return next_omega_[static_cast<size_t>(residual.site().stack)];
  }

  std::map<std::string, Residual*, std::less<>> residuals_;
  std::array<double, 2> next_omega_{1, 1};  // the decoder does not go on from the encoder's
};

}  // namespace

Profile calibrate(Transformer& model, const Packed& source, const Packed& target) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.train();
  Profiler profiler(model);
  {
    const Watch watch(model.context(), [&](const ProbePoint& point, const torch::Tensor& value) {
      return profiler.observe(point, value);
    });
    model.forward(source, target);
  }
  model.train(was_training);
  return profiler.profile;
}

}  // namespace ballast
