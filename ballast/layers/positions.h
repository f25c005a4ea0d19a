#pragma once

#include <torch/nn/module.h>

#include <mutex>
#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/parameter.h"

namespace ballast {

/// Sinusoids (Vaswani et al. 2017) in tensor2tensor's layout, as fairseq has them: the first half
/// of the features sines, the second half cosines, of position * 10000^(-i / (d/2 - 1)).
struct SinusoidalPositions {
  static constexpr KindInfo info{"sinusoidal", "[sin(p w_i) | cos(p w_i)]",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  int64_t first = 1;  ///< position of a sequence's first token

  static constexpr auto fields() {
    return std::make_tuple(
        field("first", &SinusoidalPositions::first, "position of the first token", at_least_zero));
  }
  bool operator==(const SinusoidalPositions&) const = default;
};

/// A trained vector per position; longer sequences are refused.
struct LearnedPositions {
  static constexpr KindInfo info{"learned", "table[p]", "Gehring et al. 2017, arXiv:1705.03122"};
  int64_t max_length = 1024;  ///< tokens

  static constexpr auto fields() {
    return std::make_tuple(field("max_length", &LearnedPositions::max_length,
                                 "longest sequence, in tokens", at_least_one));
  }
  bool operator==(const LearnedPositions&) const = default;
};

/// Every position code a recipe can name.
using PositionChoice = std::variant<SinusoidalPositions, LearnedPositions>;

/// Rows first .. first + length - 1 of the sinusoid table, float32 [length, d]; d is even.
torch::Tensor sinusoids(int64_t first, int64_t length, int64_t d_model);

/// Position vectors by place in the sequence.
class Positions : public torch::nn::Module, public Described {
 public:
  Positions(const PositionChoice& choice, int64_t d_model);

  /// The vectors of places [N] (int64, from 0, all below `longest`): [N, d].
  /// Throws DataError when `longest` exceeds a learned table. Safe on several threads at once.
  torch::Tensor forward(const torch::Tensor& places, int64_t longest);

  /// Longest sequence that `forward` takes; without end where positions are computed.
  int64_t longest_sequence() const;

  std::vector<ParameterSlot> describe() override;

  torch::Tensor table;    ///< learned [max_length, d]; else undefined
  double multiplier = 1;  ///< of the table, set by `parameterize`

 private:
  torch::Tensor sinusoids_up_to(int64_t longest, torch::Device device);

  int64_t first_ = 0, d_model_;
  std::mutex growing_;
  torch::Tensor sinusoids_;  // grows with the longest sequence seen, never saved
};

}  // namespace ballast
