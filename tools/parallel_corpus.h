#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/parts.h"
#include "tools/sentences.h"

namespace ballast {

/// By the page's path below its language: part_of("lo:" + path).
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
