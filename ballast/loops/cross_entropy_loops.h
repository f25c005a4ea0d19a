#pragma once

#include <cstdint>

namespace ballast {

/// Logits of some rows and where their losses go. With z the logits and t the target of a row, in
/// nats:
///
///     nll = ln(sum_k e^z_k) - z_t
///     loss = target_share nll + every_share sum_k (ln(sum_j e^z_j) - z_k)
///     d loss / d z_k = softmax(z)_k - every_share - (k = t) target_share
///
/// The last line holds for shares with target_share + classes every_share = 1, as those of label
/// smoothing are (Szegedy et al. 2016, arXiv:1512.00567; see `Smoothing`).
struct LossRows {
  /// What is left of the logits: they with the bias, or the gradient of the loss by them.
  enum class Turn { keep, into_gradient };

  int64_t rows, classes;
  float* logits;                     ///< [rows, classes], overwritten
  const float* bias;                 ///< [classes] still to be added, or null
  const int64_t* targets;            ///< [rows], in [0, classes)
  double target_share, every_share;  ///< of -log p of the target, and of every class
  double *loss, *nll;                ///< [rows]
  Turn turn = Turn::keep;
  uint16_t* narrow = nullptr;  ///< [rows, classes]: the gradient goes here, in bfloat16
  double z_share = 0;        ///< of (ln sum_k e^z_k)^2, which is not in `loss`, but in the gradient
  double* z_loss = nullptr;  ///< [rows]: that; left alone where its share is 0
};

/// On libtorch's threads, a row being one thread's work, so the bits depend on no number of
/// threads. Sums in float32 over 1024 classes, over these in float64. With `narrow`, what is left
/// in `logits` means nothing.
void loss_rows(const LossRows& rows);

}  // namespace ballast
