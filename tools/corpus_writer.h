#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "tools/parallel_corpus.h"

namespace ballast {

struct CorpusFiles {
  std::filesystem::path folder;          ///< must not exist yet
  std::array<std::string, 2> languages;  ///< file name endings, source and target
  std::string origin;                    ///< text of origin.txt, none when empty
};

/// Throws DataError when the folder is already there.
void check_free(const CorpusFiles& files);

/// Writes {train,valid,test}.{source,target}, one sentence a line, and origin.txt. The folder
/// appears whole or not at all. Throws StoreError when it cannot be written.
void write_corpus(const ParallelCorpus& corpus, const CorpusFiles& files);

}  // namespace ballast
