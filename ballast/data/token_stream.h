#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "ballast/data/corpus_cache.h"
#include "ballast/data/mapped_file.h"

namespace ballast {

/// The front of a file of ids. Behind it lie the ids (`id_bytes` each, filled with zeros to a
/// multiple of 8), where each document ends among them, and how many documents there are up to the
/// end of each text file (uint64 both).
struct StreamHeader {
  std::array<char, 8> magic{'B', 'L', 'S', 'T', 'I', 'D', 'S', '\n'};
  uint64_t version = 1;
  uint64_t hash = 0;        ///< of the `CorpusKey`
  uint64_t vocabulary = 0;  ///< all ids are below
  uint64_t id_bytes = 2;    ///< 2, or 4 where the vocabulary needs them
  uint64_t ids = 0, documents = 0, files = 0;
  uint64_t text_ids = 0;    ///< ids less the end pieces behind documents
  uint64_t dropped = 0;     ///< documents left out for want of ids
  uint64_t text_bytes = 0;  ///< of the documents' text, in UTF-8, those left out aside
  uint64_t checksum = 0;  ///< CRC-32 of what lies behind the header, then of the header with 0 here
};

/// 2 where every id below `vocabulary` fits into 16 bits, else 4.
uint64_t id_bytes_for(int64_t vocabulary);

/// Bytes that the ids of a file take, with what fills them up.
uint64_t bytes_of_ids(uint64_t ids, uint64_t id_bytes);

/// The documents of some text files as ids, end to end, each with the end piece behind it where the
/// vocabulary has one. They lie in a file that is mapped, so memory is no limit. All const
/// functions may run in several threads at once.
class TokenStream {
 public:
  /// Nothing when the file is missing, damaged, foreign, of another version or made with another
  /// key. No size that the file states is trusted, and no id reaches the size of the vocabulary.
  static std::optional<TokenStream> open(const CorpusKey& key, const std::filesystem::path& file);

  int64_t size() const { return static_cast<int64_t>(header_.ids); }
  int64_t text_ids() const { return static_cast<int64_t>(header_.text_ids); }
  int64_t text_bytes() const { return static_cast<int64_t>(header_.text_bytes); }
  int64_t dropped() const { return static_cast<int64_t>(header_.dropped); }
  int64_t documents() const { return static_cast<int64_t>(header_.documents); }
  int64_t files() const { return static_cast<int64_t>(header_.files); }

  int64_t operator[](int64_t place) const;

  /// The ids at begin .. end - 1.
  void copy(int64_t begin, int64_t end, int64_t* out) const;

  /// Document d holds the ids from `document_begin(d)` to `document_end(d)` - 1, its end piece too.
  int64_t document_begin(int64_t d) const { return d == 0 ? 0 : document_end(d - 1); }
  int64_t document_end(int64_t d) const { return static_cast<int64_t>(document_ends_[d]); }
  std::vector<int64_t> document(int64_t d) const;

  /// The document that holds the id at `place`.
  int64_t document_at(int64_t place) const;

  /// File f holds the ids from `file_end(f - 1)`, or 0, to `file_end(f)` - 1.
  int64_t file_end(int64_t f) const;

 private:
  bool is_sound() const;

  StreamHeader header_;
  MappedFile file_;
  std::span<const uint16_t> narrow_;  // one of the two is empty
  std::span<const uint32_t> wide_;
  std::span<const uint64_t> document_ends_, file_ends_;
};

}  // namespace ballast
