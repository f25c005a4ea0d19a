#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/sentences.h"

namespace ballast {

/// The part a pair belongs to; of two claims the earlier one wins.
enum class Part { train, valid, test };

inline constexpr std::array<std::string_view, 3> kPartNames{"train", "valid", "test"};

/// By the page's path below its language: the first 8 bytes, big-endian, of the SHA-256 of
/// "lo:" + path, modulo 1000: 0-39 test, 40-79 valid, else train.
Part part_of_page(std::string_view path);

/// Pairs in the order of their first occurrence, one for each source sentence (up to its
/// sentence_key). A sentence that occurs on any page of train is train's, so no sentence of valid
/// or test is in train.
class ParallelCorpus {
 public:
  void add(const SentencePair& pair, Part part);

  struct Entry {
    std::string source, target;
    Part part;
  };
  const std::vector<Entry>& entries() const { return entries_; }

  /// Number of pairs by part.
  std::array<size_t, 3> counts() const;

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;
};

struct HelpCorpusOptions {
  std::filesystem::path source;  ///< folder of the pages of the source language
  std::filesystem::path target;  ///< the same folder of the target language
};

struct HelpCorpus {
  ParallelCorpus corpus;
  size_t source_pages = 0;
  size_t common_pages = 0;
};

/// Reads every page that both folders have, in the order of their paths. Throws DataError when a
/// folder is missing, a page is damaged, or nothing comes out.
HelpCorpus build_help_corpus(const HelpCorpusOptions& options);

}  // namespace ballast
