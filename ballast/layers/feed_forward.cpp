#include "ballast/layers/feed_forward.h"

namespace ballast {

FeedForward::FeedForward(const FeedForwardOptions& options) : activation_(options.activation) {
  const int64_t arguments = arguments_of(options.activation);
  in = register_module("in", std::make_shared<Linear>(LinearShape{.fan_in = options.d_model,
                                                                  .fan_out = options.d_ff,
                                                                  .role = Role::feed_forward_in,
                                                                  .stacked = arguments}));
  out = register_module("out", std::make_shared<Linear>(LinearShape{options.d_ff, options.d_model,
                                                                    Role::feed_forward_out}));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
  stand(options.standing, Point::gate, {arguments * options.d_ff});
  stand(options.standing, Point::hidden, {options.d_ff});
}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  const DropMask mask = dropout_->mask();
  // The widest activation of a block; only its second matrix may read it rounded.
  const bool read_by_others = mask.active() || !is_bare(Point::hidden);
  const Precision type = read_by_others ? Precision::float32 : in->context().precision;
  return out->forward(at(Point::hidden, dropout(activated(x, type), mask)));
}

torch::Tensor FeedForward::activated(const torch::Tensor& x, Precision type) const {
  if (is_bare(Point::gate)) return in->forward(x, {activation_, type});
  return activate(at(Point::gate, in->forward(x)), activation_);
}

}  // namespace ballast
