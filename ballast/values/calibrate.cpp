#include "ballast/values/calibrate.h"

#include <array>
#include <cmath>

#include "ballast/base/moments.h"

namespace ballast {
namespace {

/// Watches one forward pass and sets each omega as soon as what precedes it is known.
class Profiler {
 public:
  torch::Tensor observe(const Passing& passing, const torch::Tensor& value) {
    const auto* residual = dynamic_cast<const Residual*>(&passing.module);
    if (residual == nullptr) return value;
    if (passing.point == Point::lane && passing.lane == 0) enter(*residual, value);
    if (passing.point == Point::branch) leave(*residual, value);
    return value;
  }

  Profile profile;

 private:
  void enter(const Residual& residual, const torch::Tensor& x) {
    const bool is_profiled = residual.form().shortcut.profiled;
    if (is_profiled) residual.set_profiled_shortcut(next_omega(residual));
    // The one set, and not as it was rounded to float32: the recursion goes on with it.
    const double omega = is_profiled ? next_omega(residual) : residual.acting_shortcut();
    profile.push_back({residual.site(), omega, moments(x).variance(), 0});
  }

  void leave(const Residual& residual, const torch::Tensor& f) {
    ProfiledSite& measured = profile.back();
    measured.branch_variance = moments(f).variance();
    next_omega(residual) = std::sqrt(measured.omega * measured.omega * measured.shortcut_variance +
                                     measured.branch_variance);
  }

  double& next_omega(const Residual& residual) {
    return next_omega_[static_cast<size_t>(residual.site().stack)];
  }

  std::array<double, 2> next_omega_{1, 1};  // the decoder does not go on from the encoder's
};

}  // namespace

Profile calibrate(Transformer& model, const Packed& source, const Packed& target) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.train();
  Profiler profiler;
  {
    const Watch watch(model.context(), [&](const Passing& passing, const torch::Tensor& value) {
      return profiler.observe(passing, value);
    });
    model.forward(source, target);
  }
  model.train(was_training);
  return profiler.profile;
}

}  // namespace ballast
