#pragma once

#include <span>
#include <vector>

#include "ballast/model/transformer.h"

namespace ballast {

/// Models of one target vocabulary and one device that extend the same hypotheses together. The
/// probability of a token is the mean of the models' (as in fairseq):
/// p(y) = 1/M sum_m softmax(logits_m)(y). A single model's logits are passed on as they are.
class Ensemble {
 public:
  /// `rows_per_sentence` empty hypotheses for each source.
  Ensemble(std::span<const Transformer* const> models, const Packed& sources,
           int64_t rows_per_sentence);

  /// Feeds one id per hypothesis, int64 [B]; returns float32 [B, V] on the CPU, the logarithms of
  /// the probabilities but for a constant in each row.
  torch::Tensor feed(const torch::Tensor& ids);

  /// See `DecodeState::select`.
  void select(const torch::Tensor& rows, std::span<const int64_t> per_sentence);

  int64_t length() const { return members_.front().state.length(); }  ///< tokens fed so far
  const Segments& groups() const { return members_.front().state.reading.readers; }

 private:
  struct Member {
    const Transformer* model;
    DecodeState state;
  };

  std::vector<Member> members_;
};

/// Longest sequence that all the models have positions for.
int64_t longest_sequence(std::span<const Transformer* const> models);

}  // namespace ballast
