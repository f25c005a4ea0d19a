#pragma once

#include <torch/nn/module.h>

#include <mutex>

#include "ballast/base/parameter.h"
#include "ballast/layers/position_kinds.h"

namespace ballast {

/// Rows first .. first + length - 1 of the sinusoid table, float32 [length, d] from angles in
/// float64; d is even. In halves, column i < d/2 is sin(place w_i) and column d/2 + i cos(place
/// w_i); interleaved, these are columns 2 i and 2 i + 1.
torch::Tensor sinusoids(int64_t first, int64_t length, int64_t d_model,
                        PairLayout layout = PairLayout::halves,
                        Frequencies frequencies = Frequencies::tensor2tensor);

/// Position vectors by place in the sequence, as far as a form adds any.
class Positions : public torch::nn::Module, public Described {
 public:
  Positions(const PositionForm& form, int64_t d_model);

  /// Rows x [N, d] and the vectors of their places [N] (int64, from 0, all below `longest`); one
  /// place may serve all rows. Throws DataError when `longest` exceeds a learned table. Safe on
  /// several threads at once.
  torch::Tensor added_to(const torch::Tensor& x, const torch::Tensor& places, int64_t longest);

  /// Longest sequence that is taken; without end where positions are computed.
  int64_t longest_sequence() const;

  std::vector<ParameterSlot> describe() override;

  torch::Tensor scale;    ///< [d] of the sinusoids, starts at 1; undefined where they have none
  torch::Tensor table;    ///< learned [max_length, d]; else undefined
  double multiplier = 1;  ///< of the table, set by `parameterize`

 private:
  torch::Tensor vectors(const torch::Tensor& places, int64_t longest);
  torch::Tensor sinusoids_up_to(int64_t longest, torch::Device device);

  PositionForm form_;
  int64_t d_model_;
  std::mutex growing_;
  torch::Tensor sinusoids_;  // grows with the longest sequence seen, never saved
};

}  // namespace ballast
