#pragma once

#include "ballast/diagnose/subject.h"

namespace ballast {

/// One forward and backward pass in training mode, as the first of a training: moments, largest
/// elements and gradients at every point that lies in a stack; what attentions and hidden layers
/// make of their input (METHODS 6.8, 6.11); the share that a branch has of its connection's result;
/// loss and logits. The model is as before afterwards, but for gradients, which it has none.
void measure_signal(const Subject& subject, Measurements& found);

/// What the parameters themselves are: their size over the planned deviation, those that hold equal
/// values, and elements that are not finite. Runs nothing.
void measure_weights(const Plan& plan, Measurements& found);

/// Share of pre-activations, N(0, 1) where none are given, at which a function of single elements
/// has a slope below 0.05 of its largest: a half for relu, 0.03 for tanh.
double saturated_share(const Activation& activation, const torch::Tensor& x = {});

}  // namespace ballast
