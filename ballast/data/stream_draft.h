#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "ballast/data/corpus_cache.h"

namespace ballast {

/// Some documents of one text file as ids.
struct StreamBlock {
  uint64_t file = 0;        ///< its number
  uint64_t read = 0;        ///< documents of the file that this stands for
  uint64_t text_ids = 0;    ///< see `StreamHeader`
  uint64_t text_bytes = 0;  ///< see `StreamHeader`
  std::vector<uint32_t> ids;
  std::vector<uint32_t> lengths;  ///< of the documents that are kept

  bool operator==(const StreamBlock&) const = default;
};

/// The file that blocks are added to while a text is encoded. Each has a checksum, so whatever
/// instant the process is killed at, what was added before is found again and the work goes on
/// behind it.
class StreamDraft {
 public:
  /// Takes over the sound front of a draft with the same key; else begins anew. Raises StoreError
  /// when the file cannot be written.
  StreamDraft(std::filesystem::path file, const CorpusKey& key);

  void add(const StreamBlock& block);

  /// The number of the text file of the last block, and how many of its documents were read; those
  /// of all files before are complete.
  uint64_t file() const { return file_number_; }
  uint64_t documents_read() const { return read_; }
  uint64_t ids() const { return ids_; }

  /// Visits all blocks in the order in which they were added.
  void for_each(const std::function<void(const StreamBlock&)>& visit) const;

 private:
  void count(const StreamBlock& block);
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::ofstream out_;
  uint64_t file_number_ = 0, read_ = 0, ids_ = 0;
};

/// Writes a draft into the form that `TokenStream` reads; `files` is the number of text files.
/// Raises StoreError when it cannot be written.
void write_stream(const StreamDraft& draft, const CorpusKey& key, uint64_t files,
                  const std::filesystem::path& file);

}  // namespace ballast
