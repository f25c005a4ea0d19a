#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "ballast/base/fields.h"

namespace ballast {

/// Which tokens of a sequence a masked language model has to find, and what it reads in their
/// place. The defaults are BERT's (Devlin et al. 2018, arXiv:1810.04805, section 3.1), drawn anew
/// in every pass as in RoBERTa (Liu et al. 2019, arXiv:1907.11692, section 4.1).
struct MaskingOptions {
  double share = 0.15;
  double masked = 0.8, random = 0.1;
  int64_t patterns = 0;
  bool whole_words = false;

  static constexpr auto fields() {
    using M = MaskingOptions;
    constexpr Bounds part{.low = 0, .high = 1};
    return std::tuple{
        field("share", &M::share, "of the tokens of a sequence that are predicted, at least one",
              Bounds{.low = 0, .high = 1, .open_low = true}),
        field("masked", &M::masked, "of these: in whose place the mask piece stands", part),
        field("random", &M::random, "in whose place a random piece stands; the rest is shown",
              part),
        field("patterns", &M::patterns,
              "maskings of a sequence, which passes over the text take in turn (1: static; BERT's "
              "code: 10); 0: a new one every pass",
              at_least_zero),
        field("whole_words", &M::whole_words,
              "choose words, all pieces of which are predicted; a piece begins one that begins "
              "with a space"),
    };
  }

  bool operator==(const MaskingOptions&) const = default;
};

/// Why these cannot be; empty where they can.
std::string refusal_of(const MaskingOptions& options);

}  // namespace ballast
