#include "ballast/layers/feed_forward.h"

#include "ballast/kernels/activation.h"
#include "ballast/kernels/activation_moments.h"

namespace ballast {
namespace {

/// What the second matrix reads for each unit of what the first gives; a norm there makes it 1.
SecondMoments moments_between(const FeedForwardOptions& options) {
  if (options.standing.norms.has(Point::hidden)) return {};
  const ActivationMoments found = moments_of(options.activation);
  return {.value = found.second, .slope = found.slope_second};
}

}  // namespace

FeedForward::FeedForward(const FeedForwardOptions& options) : activation_(options.activation) {
  const int64_t arguments = options.activation.arguments();
  const SecondMoments between = moments_between(options);
  in = register_module("in", std::make_shared<Linear>(LinearShape{.fan_in = options.d_model,
                                                                  .fan_out = options.d_ff,
                                                                  .role = Role::feed_forward_in,
                                                                  .bias = options.bias,
                                                                  .stacked = arguments,
                                                                  .form = options.weights,
                                                                  .activation = between}));
  out = register_module("out", std::make_shared<Linear>(LinearShape{.fan_in = options.d_ff,
                                                                    .fan_out = options.d_model,
                                                                    .role = Role::feed_forward_out,
                                                                    .bias = options.bias,
                                                                    .form = options.weights,
                                                                    .activation = between}));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
  stand(options.standing, Point::gate, {arguments * options.d_ff});
  stand(options.standing, Point::hidden, {options.d_ff});
}

torch::Tensor FeedForward::forward(const torch::Tensor& x, const Segments* sequences) const {
  const DropMask mask = dropout_->mask();
  // The widest activation of a block; only its second matrix may read it rounded.
  const bool read_by_others = mask.active() || !is_bare(Point::hidden);
  const Precision type = read_by_others ? Precision::float32 : in->context().precision;
  const torch::Tensor hidden = dropout(activated(x, type, sequences), mask);
  return out->forward(at(Point::hidden, hidden, sequences));
}

torch::Tensor FeedForward::activated(const torch::Tensor& x, Precision type,
                                     const Segments* sequences) const {
  if (is_bare(Point::gate)) return in->forward(x, {activation_, type});
  return activate(at(Point::gate, in->forward(x), sequences), activation_);
}

}  // namespace ballast
