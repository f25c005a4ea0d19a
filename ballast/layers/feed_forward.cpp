#include "ballast/layers/feed_forward.h"

namespace ballast {

FeedForward::FeedForward(const FeedForwardOptions& options) : activation_(options.activation) {
  in = register_module(
      "in", std::make_shared<Linear>(
                LinearShape{options.d_model, options.d_ff, Role::feed_forward_in, options.site}));
  out = register_module(
      "out", std::make_shared<Linear>(
                 LinearShape{options.d_ff, options.d_model, Role::feed_forward_out, options.site}));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  return out->forward(dropout_->forward(in->forward(x, activation_)));
}

}  // namespace ballast
