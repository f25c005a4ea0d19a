#pragma once

#include <filesystem>
#include <vector>

#include "ballast/data/packed_batch.h"
#include "ballast/recipe/assemble.h"

namespace ballast::bench {

inline constexpr const char* default_corpus = "data/libreoffice-help-en-de";

/// A corpus as ids, without the text.
struct Encoded {
  std::shared_ptr<const EncodedCorpus> train;
  int64_t vocabulary_size = 0;
};

/// The vocabulary of the recipe's training text. Raises DataError, saying how the default corpus is
/// made, when a file is not there.
Tokenizer learn_vocabulary(const Recipe& recipe);

/// The same, and the training text as ids.
Encoded encoded_training_text(const Recipe& recipe);

/// The first `count` sources of the recipe's test text, with the end piece.
std::vector<std::vector<int64_t>> test_sources(const Recipe& recipe, const Tokenizer& tokenizer,
                                               int64_t count);

/// The first batches of the recipe's training.
std::vector<Batch> first_batches(const Recipe& recipe, const Encoded& data, int64_t count);

/// Hands an encoded corpus to another process, whose peak memory then knows nothing of learning a
/// vocabulary.
void write_encoded(const Encoded& data, const std::filesystem::path& file);
Encoded read_encoded(int64_t vocabulary_size, const std::filesystem::path& file);

}  // namespace ballast::bench
