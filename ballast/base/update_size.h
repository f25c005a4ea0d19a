#pragma once

namespace ballast {

/// How the size of an optimizer's update follows that of the gradient: not at all (Adam and its
/// relatives), in proportion (SGD), or set by rule for the whole matrix (Muon).
enum class UpdateSize { adaptive, gradient, spectral };

}  // namespace ballast
