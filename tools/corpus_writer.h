#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tools/parallel_corpus.h"

namespace ballast {

struct CorpusFiles {
  std::filesystem::path folder;          ///< must not exist yet
  std::array<std::string, 2> languages;  ///< file name endings, source and target
  std::string origin;                    ///< text of origin.txt, none when empty
};

/// Throws DataError when the folder is already there.
void check_free(const std::filesystem::path& folder);

/// Writes {train,valid,test}.{source,target}, one sentence a line, and origin.txt. The folder
/// appears whole or not at all. Throws StoreError when it cannot be written.
void write_corpus(const ParallelCorpus& corpus, const CorpusFiles& files);

/// Makes `folder` by what `write` puts into a scratch folder beside it, so that it appears whole or
/// not at all. Throws DataError when it is there already, StoreError when it cannot be written.
void write_folder(const std::filesystem::path& folder,
                  const std::function<void(const std::filesystem::path&)>& write);

/// Closes a file that was written. Throws StoreError when not all of it could be.
void close_written(std::ofstream& stream, const std::filesystem::path& file);

}  // namespace ballast
