#pragma once

#include <cstdint>

namespace ballast {

/// Logits of some rows and where their losses go.
struct LossRows {
  enum class Turn { keep, into_gradient };

  int64_t rows, classes;
  float* logits;      ///< [rows, classes], overwritten
  const float* bias;  ///< [classes] still to be added, or null
  const int64_t* targets;
  double target_share, every_share;  ///< of -log p of the target, and of every class
  double *loss, *nll;                ///< [rows]
  Turn turn = Turn::keep;            ///< into_gradient: of the loss by the logits, in their place
  uint16_t* narrow = nullptr;        ///< [rows, classes]: into_gradient goes here, in bfloat16
};

void loss_rows(const LossRows& rows);

}  // namespace ballast
