#pragma once

#include <filesystem>
#include <vector>

#include "ballast/data/packed_batch.h"
#include "ballast/recipe/assemble.h"

namespace ballast::bench {

/// A corpus as ids, without the text.
struct Encoded {
  std::shared_ptr<const EncodedCorpus> train;
  int64_t vocabulary_size = 0;
};

/// Learns the recipe's vocabulary and encodes its training text. Raises DataError, saying how the
/// default corpus is made, when a file is not there.
PreparedData load_data(const Recipe& recipe);

/// The first batches of the recipe's training.
std::vector<Batch> first_batches(const Recipe& recipe, const Encoded& data, int64_t count);

/// Hands an encoded corpus to another process, whose peak memory then knows nothing of learning a
/// vocabulary.
void write_encoded(const Encoded& data, const std::filesystem::path& file);
Encoded read_encoded(int64_t vocabulary_size, const std::filesystem::path& file);

}  // namespace ballast::bench
