#pragma once

#include <torch/autograd.h>
#include <torch/custom_class.h>

#include <utility>

namespace ballast {

/// An autograd function takes no undefined tensors.
inline c10::optional<torch::Tensor> given(const torch::Tensor& t) {
  return t.defined() ? c10::optional<torch::Tensor>(t) : c10::nullopt;
}

/// A plain value on its way from the forward to the backward pass of an autograd function.
template <class T>
struct Held : torch::CustomClassHolder {
  explicit Held(T value) : value(std::move(value)) {}

  T value;
};

template <class T>
void hold(torch::autograd::AutogradContext& context, T value) {
  context.saved_data["held"] =
      c10::IValue::make_capsule(c10::make_intrusive<Held<T>>(std::move(value)));
}

/// What `hold` stored, by the same type; valid as long as the context.
template <class T>
const T& held(torch::autograd::AutogradContext& context) {
  return static_cast<const Held<T>&>(*context.saved_data.at("held").toCapsule()).value;
}

}  // namespace ballast
