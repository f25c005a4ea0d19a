#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/parts.h"

namespace ballast {

/// Documents of paragraphs, each document in one part and each paragraph once in the whole corpus.
class DocumentCorpus {
 public:
  /// Takes a document; its part is part_of(name).
  void add(std::string name, const std::vector<std::string>& paragraphs);

  struct Document {
    std::string name;
    Part part;
    std::vector<std::string> paragraphs;
  };

  /// In the order in which they were added. Of paragraphs that are the same up to their
  /// sentence_key, one stays: the first one in train, or else in valid, or else in test. So none of
  /// valid or test is in train. Documents of which nothing stays are left out.
  std::vector<Document> documents() const;

 private:
  struct Place {
    size_t document, paragraph;
  };
  std::vector<Document> documents_;
  std::unordered_map<std::string, Place> kept_;
};

/// Adds every .html page below `folder`, in the order of their paths, under the name
/// `package`/path. Symbolic links are left out. Throws DataError when there is none.
void add_pages(DocumentCorpus& corpus, const std::string& package,
               const std::filesystem::path& folder);

/// Writes {train,valid,test}.jsonl, a line {"document": name, "text": paragraphs joined by "\n"}
/// for each document, {train,valid,test}.txt, the same documents without names as lines with spaces
/// between paragraphs, and README.md. The folder appears whole or not at all. Throws DataError when
/// it is there already, StoreError when it cannot be written.
void write_documents(const std::vector<DocumentCorpus::Document>& documents,
                     const std::filesystem::path& folder, const std::string& readme);

}  // namespace ballast
