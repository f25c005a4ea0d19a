#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ballast/kernels/cross_entropy.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// Ids that a language model reads at once, all but the last. The last `scored` are predicted, each
/// from all that are before it here.
struct Window {
  std::span<const int64_t> ids;
  int64_t scored = 0;  ///< less than there are ids
};

/// How a text becomes windows.
struct Sliding {
  int64_t context = 512;  ///< most ids that are read at once
  int64_t stride = 512;   ///< from one window's begin to the next, 1 to context
};

/// Windows in which every id but the first, which is only read, is predicted exactly once:
///
///     window k reads ids[k s .. k s + C - 1] and predicts those of ids[k s + 1 .. k s + C] that no
///     window before did
///
/// so an id has at least C - s + 1 before it, or all that there are. With s = C these are the
/// contexts of a training. Hugging Face's sliding window ("Perplexity of fixed-length models") is
/// the same with `max_length` = C + 1, for it counts the last id, which is predicted and not read.
/// Less than two ids make none.
std::vector<Window> sliding_windows(std::span<const int64_t> ids, const Sliding& sliding);

/// What a model says of a window's predicted ids.
struct WindowScore {
  double log_probability = 0;  ///< sum, in nats
  int64_t tokens = 0;
  bool greedy = true;  ///< whether each is the most probable id at its place, where asked for
};

struct Scoring {
  int64_t batch_tokens = 4096;  ///< read at once; a window above it goes alone
  bool greedy = false;          ///< costs the output projection a second time
  CrossEntropyOptions loss;
};

struct WindowScores {
  std::vector<WindowScore> windows;  ///< in the order they were given
  double loss = 0;                   ///< sum over all, in nats, smoothed as asked for
};

/// Scores windows, batched by length, in evaluation mode. Sums are of double precision, over rows
/// that do not depend on how they are batched but for rounding. DataError as in
/// `Transformer::forward`.
WindowScores score_windows(Transformer& model, std::span<const Window> windows,
                           const Scoring& scoring);

}  // namespace ballast
