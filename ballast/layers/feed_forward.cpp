#include "ballast/layers/feed_forward.h"

namespace ballast {

FeedForward::FeedForward(const FeedForwardOptions& options) : activation_(options.activation) {
  in = register_module(
      "in", std::make_shared<Linear>(LinearShape{.fan_in = options.d_model,
                                                 .fan_out = options.d_ff,
                                                 .role = Role::feed_forward_in,
                                                 .site = options.site,
                                                 .stacked = arguments_of(options.activation)}));
  out = register_module(
      "out", std::make_shared<Linear>(
                 LinearShape{options.d_ff, options.d_model, Role::feed_forward_out, options.site}));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  const DropMask mask = dropout_->mask();
  // The widest activation of a block; dropout alone reads it in float32.
  const Precision hidden = mask.active() ? Precision::float32 : in->context().precision;
  return out->forward(dropout(in->forward(x, {activation_, hidden}), mask));
}

}  // namespace ballast
