#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// An entry of a matrix of scores: how one hypothesis may go on.
struct Candidate {
  int64_t row = 0, token = 0;
  float score = 0;
};

/// The scores that candidates are chosen from: logits [N, columns] and what is added to each row.
struct ScoreRows {
  const float* logits;
  int64_t columns;
  const float* offsets;
  std::span<const int64_t> excluded;
  std::span<const std::vector<int64_t>> forbidden;  ///< see `CandidateInputs`
};

/// Logarithm of the sum of exponentials of a row, summed in blocks and over these in float64.
double log_normalizer(const float* row, int64_t columns);

/// The best entries of rows first .. first + rows - 1, see `best_candidates`.
std::vector<Candidate> best_of_rows(const ScoreRows& scores, int64_t first, int64_t rows,
                                    int64_t count);

}  // namespace ballast
