#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

namespace ballast {

/// What is added to the rows that enter a stack.
enum class AddedPositions { none, sinusoids, table };

/// What the logits of self-attention are given for the distance of key and query.
enum class DistanceRule { none, slopes, buckets };

/// Which features the sine and the cosine of one frequency are, and which two are turned together:
/// i and i + d/2, or 2i and 2i + 1.
enum class PairLayout { halves, interleaved };

template <>
struct EnumNames<PairLayout> {
  static constexpr std::array<std::pair<std::string_view, PairLayout>, 2> value{
      {{"halves", PairLayout::halves}, {"interleaved", PairLayout::interleaved}}};
};

/// Frequency i of the d/2 of sinusoids: 10000^(-i / (d/2 - 1)), so that the last is 1/10000, or
/// 10000^(-2 i / d), which falls short of it.
enum class Frequencies { tensor2tensor, paper };

template <>
struct EnumNames<Frequencies> {
  static constexpr std::array<std::pair<std::string_view, Frequencies>, 2> value{
      {{"tensor2tensor", Frequencies::tensor2tensor}, {"paper", Frequencies::paper}}};
};

/// How a token's place gets into a model. Each part is read by who carries it out: the embedding,
/// the projected queries and keys of self-attention, its logits. A kind of positions is a function
/// to this and nothing else.
struct PositionForm {
  AddedPositions added = AddedPositions::none;
  int64_t first = 0;         ///< of sinusoids: place of the first token
  bool scaled = false;       ///< of sinusoids: times a trained number for each feature
  int64_t table_length = 0;  ///< of a table: places it has
  double rotary_base = 0;    ///< above 0: queries and keys are turned by place base^(-2 i / K)
  PairLayout layout = PairLayout::halves;
  Frequencies frequencies = Frequencies::tensor2tensor;  ///< of sinusoids
  DistanceRule distance = DistanceRule::none;
  int64_t buckets = 0, bucket_reach = 0;  ///< of buckets: how many, and where the last begins
};

/// As they stand, those of tensor2tensor and fairseq; the paper has its own frequencies, the
/// interleaved layout and place 0 first. Any length; nothing is trained.
struct SinusoidalPositions {
  static constexpr KindInfo info{"sinusoidal", "sin(p w_i) and cos(p w_i)",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  int64_t first = 1;
  PairLayout layout = PairLayout::halves;
  Frequencies frequencies = Frequencies::tensor2tensor;
  bool scaled = false;

  PositionForm form() const {
    return {.added = AddedPositions::sinusoids,
            .first = first,
            .scaled = scaled,
            .layout = layout,
            .frequencies = frequencies};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("first", &SinusoidalPositions::first, "position of the first token", at_least_zero),
        field("layout", &SinusoidalPositions::layout,
              "halves: all sines, then all cosines (tensor2tensor, fairseq); interleaved: sine and "
              "cosine of each frequency side by side (the paper)"),
        field("frequencies", &SinusoidalPositions::frequencies,
              "w_i = 10000^(-i / (d_model/2 - 1)) (tensor2tensor, fairseq) or 10000^(-2 i / "
              "d_model) (paper)"),
        field("scaled", &SinusoidalPositions::scaled,
              "times a trained number for each feature, from 1 (one for all in Li et al. 2019, "
              "arXiv:1809.08895)"));
  }
  bool operator==(const SinusoidalPositions&) const = default;
};

/// A trained vector per position; longer sequences are refused.
struct LearnedPositions {
  static constexpr KindInfo info{"learned", "table[p]", "Gehring et al. 2017, arXiv:1705.03122"};
  int64_t max_length = 1024;

  PositionForm form() const { return {.added = AddedPositions::table, .table_length = max_length}; }
  static constexpr auto fields() {
    return std::make_tuple(field("max_length", &LearnedPositions::max_length,
                                 "longest sequence, in tokens", at_least_one));
  }
  bool operator==(const LearnedPositions&) const = default;
};

/// Only a causal attention can tell places apart without any.
struct NoPositions {
  static constexpr KindInfo info{"none", "nothing; a causal attention counts by itself",
                                 "Kazemnejad et al. 2023, arXiv:2305.19466"};

  PositionForm form() const { return {}; }
  bool operator==(const NoPositions&) const = default;
};

/// Queries and keys are turned by their places, so that a logit depends on their distance; nothing
/// is added or trained. That of most language models since. Heads need an even width.
struct RotaryPositions {
  static constexpr KindInfo info{"rotary", "q and k of self-attention turned by p base^(-2 i / K)",
                                 "Su et al. 2021, arXiv:2104.09864"};
  double base = 10000;
  PairLayout layout = PairLayout::halves;

  PositionForm form() const { return {.rotary_base = base, .layout = layout}; }
  static constexpr auto fields() {
    return std::make_tuple(
        field("base", &RotaryPositions::base, "of the frequencies; larger for longer contexts",
              Bounds{.low = 1, .open_low = true}),
        field("layout", &RotaryPositions::layout,
              "features turned together: halves (GPT-NeoX, LLaMA in transformers) or interleaved "
              "(the paper, GPT-J)"));
  }
  bool operator==(const RotaryPositions&) const = default;
};

/// A penalty that grows with the distance, steeper for some heads (`alibi_slopes`); nothing is
/// trained. Proposed for texts longer than those of training.
struct AlibiPositions {
  static constexpr KindInfo info{"alibi", "-slope_h |i - j| on the logits of self-attention",
                                 "Press et al. 2022, arXiv:2108.12409"};

  PositionForm form() const { return {.distance = DistanceRule::slopes}; }
  bool operator==(const AlibiPositions&) const = default;
};

/// One table for all layers of a stack, that starts at 0: T5's. Short distances have a bucket each,
/// the others share ones that widen with the logarithm of the distance.
struct BucketPositions {
  static constexpr KindInfo info{"relative_buckets",
                                 "a trained number per head and bucket of distances, on the logits",
                                 "Raffel et al. 2020, arXiv:1910.10683"};
  int64_t buckets = 32;
  int64_t max_distance = 128;

  PositionForm form() const {
    return {.distance = DistanceRule::buckets, .buckets = buckets, .bucket_reach = max_distance};
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("buckets", &BucketPositions::buckets,
              "half for each direction in an encoder; half of one direction's for single distances",
              Bounds{.low = 4}),
        field("max_distance", &BucketPositions::max_distance,
              "tokens from which on all distances share a bucket", at_least_one));
  }
  bool operator==(const BucketPositions&) const = default;
};

/// Every position code a recipe can name.
using PositionChoice = std::variant<SinusoidalPositions, LearnedPositions, NoPositions,
                                    RotaryPositions, AlibiPositions, BucketPositions>;

inline PositionForm form_of(const PositionChoice& choice) {
  return std::visit([](const auto& kind) { return kind.form(); }, choice);
}

}  // namespace ballast
