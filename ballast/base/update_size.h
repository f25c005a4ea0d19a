#pragma once

namespace ballast {

/// How the size of an optimizer's update follows what it is given: a parameterisation that keeps
/// updates in proportion to a model's width has to know.
enum class UpdateSize {
  adaptive,   ///< not the gradient's size: each element moves by about the learning rate (Adam)
  gradient,   ///< in proportion to the gradient (SGD)
  spectral,   ///< set by rule for the whole matrix, to one spectral norm (Muon)
  full_rank,  ///< set by rule for the whole matrix, to one rms in all directions (Muon, match_adam)
  weight,     ///< in proportion to the weight's own size (LAMB; Adafactor with scaled steps)
};

}  // namespace ballast
