#include "tools/document_corpus.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "ballast/base/error.h"
#include "tools/corpus_writer.h"
#include "tools/prose.h"
#include "tools/sentences.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::string utf8(const icu::UnicodeString& text) {
  std::string bytes;
  return text.toUTF8String(bytes);
}

std::string joined(const std::vector<std::string>& paragraphs, char between) {
  std::string text;
  for (const std::string& paragraph : paragraphs) {
    if (!text.empty()) text += between;
    text += paragraph;
  }
  return text;
}

std::vector<std::string> pages_below(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw DataError(folder.string() + ": no such folder; expected unpacked pages");
  }
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bool page = entry.is_regular_file() && !entry.is_symlink();
    if (page && entry.path().extension() == ".html") {
      paths.push_back(entry.path().lexically_relative(folder).generic_string());
    }
  }
  if (paths.empty()) throw DataError(folder.string() + ": no .html page found");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// As JSON lines, and as plain lines with spaces between paragraphs.
void write_part(const std::vector<DocumentCorpus::Document>& documents, Part part,
                const fs::path& stem) {
  const fs::path json_file = stem.string() + ".jsonl";
  const fs::path text_file = stem.string() + ".txt";
  std::ofstream json(json_file, std::ios::binary);
  std::ofstream text(text_file, std::ios::binary);
  for (const auto& document : documents) {
    if (document.part != part) continue;
    nlohmann::ordered_json line{{"document", document.name},
                                {"text", joined(document.paragraphs, '\n')}};
    json << line.dump() << '\n';
    text << joined(document.paragraphs, ' ') << '\n';
  }
  close_written(json, json_file);
  close_written(text, text_file);
}

}  // namespace

void DocumentCorpus::add(std::string name, const std::vector<std::string>& paragraphs) {
  const Part part = part_of(name);
  const size_t document = documents_.size();
  documents_.push_back({std::move(name), part, paragraphs});
  for (size_t i = 0; i < paragraphs.size(); ++i) {
    auto key = utf8(sentence_key(icu::UnicodeString::fromUTF8(paragraphs[i])));
    auto [at, is_new] = kept_.emplace(std::move(key), Place{document, i});
    if (!is_new && part < documents_[at->second.document].part) at->second = {document, i};
  }
}

std::vector<DocumentCorpus::Document> DocumentCorpus::documents() const {
  std::vector<std::vector<size_t>> staying(documents_.size());
  for (const auto& [key, place] : kept_) staying[place.document].push_back(place.paragraph);
  std::vector<Document> found;
  for (size_t i = 0; i < documents_.size(); ++i) {
    if (staying[i].empty()) continue;
    std::sort(staying[i].begin(), staying[i].end());
    Document left{documents_[i].name, documents_[i].part, {}};
    for (size_t paragraph : staying[i]) {
      left.paragraphs.push_back(documents_[i].paragraphs[paragraph]);
    }
    found.push_back(std::move(left));
  }
  return found;
}

void add_pages(DocumentCorpus& corpus, const std::string& package, const fs::path& folder) {
  for (const std::string& path : pages_below(folder)) {
    std::vector<std::string> paragraphs;
    for (const auto& paragraph : read_prose(folder / path)) paragraphs.push_back(utf8(paragraph));
    corpus.add(package + '/' + path, paragraphs);
  }
}

void write_documents(const std::vector<DocumentCorpus::Document>& documents, const fs::path& folder,
                     const std::string& readme) {
  write_folder(folder, [&](const fs::path& scratch) {
    for (Part part : {Part::train, Part::valid, Part::test}) {
      std::string name(kPartNames[static_cast<size_t>(part)]);
      write_part(documents, part, scratch / name);
    }
    std::ofstream stream(scratch / "README.md", std::ios::binary);
    stream << readme;
    close_written(stream, scratch / "README.md");
  });
}

}  // namespace ballast
