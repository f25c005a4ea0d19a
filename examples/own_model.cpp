// A model of one's own: stock torch modules with Ballast's residual connections around its
// branches, filled by Ballast's rules and trained by its optimizer.

#include <fmt/format.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/optim/optimizer.h"
#include "ballast/residual/residual.h"
#include "ballast/residual/schemes.h"
#include "ballast/values/plan.h"

namespace {

constexpr int64_t width = 32;
constexpr int depth = 24;

/// x -> residual blocks of relu(Linear) -> LayerNorm -> one number.
class OwnModel : public torch::nn::Module {
 public:
  explicit OwnModel(const ballast::ResidualChoice& scheme) {
    for (int i = 0; i < depth; ++i) {
      const ballast::ResidualSite site{.kind = ballast::Sublayer::feed_forward,
                                       .index = i,
                                       .count = depth,
                                       .layer = i,
                                       .encoder_layers = depth,
                                       .d_model = width};
      const std::string name = std::to_string(i);
      hidden_.push_back(register_module("hidden" + name, torch::nn::Linear(width, width)));
      residuals_.push_back(register_module(
          "residual" + name, std::make_shared<ballast::Residual>(
                                 ballast::ResidualOptions{.form = form_of(scheme, site),
                                                          .norm = ballast::LayerNorm{},
                                                          .site = site,
                                                          .around = hidden_.back().ptr()})));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (int i = 0; i < depth; ++i) {
      x = residuals_[i]->forward(
          x, [&](const torch::Tensor& h) { return torch::relu(hidden_[i]->forward(h)); });
    }
    return output_->forward(norm_->forward(x)).squeeze(-1);
  }

 private:
  std::vector<torch::nn::Linear> hidden_;
  std::vector<std::shared_ptr<ballast::Residual>> residuals_;
  torch::nn::LayerNorm norm_ = register_module(
      "norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions(std::vector<int64_t>{width})));
  torch::nn::Linear output_ = register_module("output", torch::nn::Linear(width, 1));
};

/// Mean squared error before and after training on products of two features.
std::pair<double, double> trained(OwnModel& model, ballast::Optimizer optimizer) {
  std::pair<double, double> losses;
  for (int step = 1; step <= 200; ++step) {
    const torch::Tensor x = torch::randn({256, width});
    const torch::Tensor wanted = x.select(1, 0) * x.select(1, 1);
    const torch::Tensor loss = torch::mse_loss(model.forward(x), wanted);
    if (step == 1) losses.first = loss.item<double>();
    losses.second = loss.item<double>();
    loss.backward();
    optimizer.step(3e-3);
    optimizer.clear_gradients();
  }
  return losses;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const auto model = std::make_shared<OwnModel>(ballast::AdminConstant{});
  const auto plan = ballast::plan(*model, {.init = ballast::Orthogonal{}});
  ballast::parameterize(plan);
  ballast::initialize(plan, /*seed=*/1);
  const auto [first, last] = trained(*model, {ballast::Adam{}, ballast::optimized(plan)});
  fmt::print("{} parameters in {} residual blocks; loss {:.3f} -> {:.3f}\n", plan.parameters.size(),
             depth, first, last);
  return last < 0.7 * first ? 0 : 1;
}
