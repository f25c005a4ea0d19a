#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/precision.h"
#include "ballast/kernels/cross_entropy.h"
#include "ballast/train/stability_guard.h"

namespace ballast {

template <>
struct EnumNames<Smoothing> {
  static constexpr std::array<std::pair<std::string_view, Smoothing>, 2> value{
      {{"all_classes", Smoothing::all_classes}, {"other_classes", Smoothing::other_classes}}};
};

/// How long and in what portions a model is trained.
struct TrainOptions {
  int64_t steps = 10000;
  int64_t batch_tokens = 4096;
  int64_t accumulate = 1;
  Precision precision = Precision::float32;
  double label_smoothing = 0.1;
  Smoothing smoothing = Smoothing::all_classes;
  double z_loss = 0;
  double clip_norm = 1;
  int64_t log_every = 10;
  int64_t instruments_every = 100;
  int64_t validate_every = 500;
  int64_t bleu_sentences = 200;
  int64_t checkpoint_every = 500;
  int64_t keep = 3;
  int64_t patience = 0;
  bool recompute = false;
  StabilityOptions stability;

  static constexpr auto fields() {
    using T = TrainOptions;
    return std::make_tuple(
        field("steps", &T::steps, "updates to make", at_least_zero),
        field("batch_tokens", &T::batch_tokens,
              "most tokens of a batch, counted on the longer side, end pieces included",
              at_least_one),
        field("accumulate", &T::accumulate, "batches whose gradients are summed for one update",
              at_least_one),
        field("precision", &T::precision,
              "of matrix products: float32, or bf16 where the processor has instructions for it"),
        field("label_smoothing", &T::label_smoothing, "eps of the loss", probability),
        field("smoothing", &T::smoothing,
              "eps spread over all_classes (eps/V) or other_classes (eps/(V-1))"),
        field(
            "z_loss", &T::z_loss,
            "c of c (log Z)^2 per token in what is minimised, Z the sum of exp(logits); PaLM: 1e-4",
            at_least_zero),
        field("clip_norm", &T::clip_norm, "largest gradient norm per token; 0 = no clipping",
              at_least_zero),
        field("log_every", &T::log_every, "steps between two records of the log", at_least_one),
        field("instruments_every", &T::instruments_every,
              "steps between two looks at moments, gradients and attention, which a post-mortem "
              "reads; 0 = never",
              at_least_zero),
        field("validate_every", &T::validate_every, "steps between two validations; 0 = never",
              at_least_zero),
        field("bleu_sentences", &T::bleu_sentences,
              "validation sentences translated (greedily) for BLEU; 0 = none", at_least_zero),
        field("checkpoint_every", &T::checkpoint_every,
              "steps between two checkpoints; the last step is always saved", at_least_one),
        field("keep", &T::keep, "checkpoints kept besides the best", at_least_one),
        field("patience", &T::patience,
              "validations without a lower loss before training ends early; 0 = never",
              at_least_zero),
        field("recompute", &T::recompute,
              "compute blocks again in the backward pass instead of keeping what they computed: "
              "less memory, more time, the same numbers"),
        field("stability", &T::stability, "when a run counts as diverged"));
  }
  bool operator==(const TrainOptions&) const = default;
};

}  // namespace ballast
