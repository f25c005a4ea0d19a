#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// An entry of a matrix of scores: how one hypothesis may go on. `score` is logit plus offset, in
/// nats.
struct Candidate {
  int64_t row = 0, token = 0;
  float score = 0;
};

/// The scores that candidates are chosen from: contiguous logits [N, columns] and what is added to
/// each row, `offsets` [N].
struct ScoreRows {
  const float* logits;
  int64_t columns;
  const float* offsets;
  /// Columns left out of every row; compared one by one, so there should be few.
  std::span<const int64_t> excluded;
  std::span<const std::vector<int64_t>> forbidden;  ///< see `CandidateInputs`
};

/// ln(sum_j exp(row[j])) of a row of `columns` > 0 finite logits, without overflow: the largest is
/// taken away first. Summed in blocks and over these in float64.
double log_normalizer(const float* row, int64_t columns);

/// The up to `count` best entries of rows first .. first + rows - 1 together, best first, equal
/// ones by row and then by column; entries of -infinity and NaN are never among them. See
/// `best_candidates`.
std::vector<Candidate> best_of_rows(const ScoreRows& scores, int64_t first, int64_t rows,
                                    int64_t count);

}  // namespace ballast
