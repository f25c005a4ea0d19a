#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ballast/data/masking_options.h"
#include "ballast/data/packed_batch.h"
#include "ballast/data/tokenizer.h"

namespace ballast {

/// The piece that stands for a hidden token: "<mask>" or "[MASK]" where the vocabulary has one,
/// else an id of its own behind all pieces.
int64_t mask_id(const Tokenizer& tokenizer);

/// What masking reads of a vocabulary.
struct MaskableVocabulary {
  int64_t mask = 0;
  std::vector<int64_t> ordinary;  ///< ids of text: no special piece, nor unknown; rising
  std::vector<bool> is_ordinary;  ///< by id
  std::vector<bool> begins_word;  ///< by id; where no piece begins with a space, every one does
};
MaskableVocabulary maskable(const Tokenizer& tokenizer);

/// Hides tokens of batches. What is hidden depends on seed, pass and the ids of the sequence alone:
/// neither on the batch around it, nor on threads, nor on what was drawn before.
class Masking {
 public:
  /// RecipeError where `masked` and `random` are more than all.
  Masking(const MaskingOptions& options, MaskableVocabulary vocabulary, uint64_t seed);

  /// The batch with hidden tokens in `target_input`, their rows in `predicted`, rising, and what
  /// stood there in `target_output`. In each sequence max(1, round(share n)) of its n ordinary
  /// tokens are chosen, words in random order until no further one fits (as in BERT's code); one
  /// without ordinary tokens stays as it is.
  /// `pass` is that over the corpus; without one, for evaluation, the masking is the same for every
  /// seed.
  Batch masked(Batch batch, std::optional<int64_t> pass) const;

 private:
  uint64_t key_of_pass(std::optional<int64_t> pass) const;
  std::vector<int64_t> chosen(std::span<const int64_t> ids, uint64_t key) const;
  int64_t shown(int64_t id, uint64_t key, int64_t place) const;

  MaskingOptions options_;
  MaskableVocabulary vocabulary_;
  uint64_t seed_;
};

}  // namespace ballast
