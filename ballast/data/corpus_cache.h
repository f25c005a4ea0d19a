#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "ballast/data/corpus.h"

namespace ballast {

/// What an encoded corpus was made from; another key is another corpus.
struct CorpusKey {
  uint64_t hash = 0;
  int64_t source_vocabulary = 0;  ///< 0 where there is no source
  int64_t target_vocabulary = 0;
};

CorpusKey key_of_pairs(const ParallelText& text, const Tokenizers& tokenizers,
                       const LengthLimit& limit);

/// Keeps an encoded corpus in a file: written beside it and renamed, so that a reader sees all or
/// nothing. Raises StoreError when it cannot be written.
void save_corpus(const EncodedCorpus& corpus, const CorpusKey& key,
                 const std::filesystem::path& file);

/// The corpus of such a file, or nothing when the file is missing, damaged, foreign, of another
/// version or made with another key: then the text is to be encoded again. No size that the file
/// states is trusted, and no id reaches the size of its side's
/// vocabulary.
std::optional<EncodedCorpus> load_corpus(const CorpusKey& key, const std::filesystem::path& file);

}  // namespace ballast
