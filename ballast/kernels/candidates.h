#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "ballast/base/segments.h"
#include "ballast/loops/candidates_loops.h"

namespace ballast {

/// What the hypotheses of some sentences may go on with.
struct CandidateInputs {
  torch::Tensor logits;               ///< [N, V] on the CPU
  std::span<const float> offsets;     ///< [N], added to every entry of a row
  const Segments& groups;             ///< rows that compete with each other
  std::span<const int64_t> excluded;  ///< columns left out
  int64_t count = 1;                  ///< wanted of every group
  /// [N] lists of columns left out of single rows; none where no row has any.
  std::span<const std::vector<int64_t>> forbidden = {};
};

/// Logarithm of the sum of exponentials of every row of [N, V].
std::vector<double> log_normalizers(const torch::Tensor& logits);
std::vector<double> log_normalizers_reference(const torch::Tensor& logits);

/// The `count` largest entries of every group, largest first; of equal ones those that come first.
/// Fewer where a group has fewer that are numbers above -infinity.
std::vector<std::vector<Candidate>> best_candidates(const CandidateInputs& inputs);

/// The ATen version; the order of equal entries is that of `topk`.
std::vector<std::vector<Candidate>> best_candidates_reference(const CandidateInputs& inputs);

}  // namespace ballast
