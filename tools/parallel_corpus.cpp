#include "tools/parallel_corpus.h"

#include <algorithm>
#include <array>

#include "ballast/base/error.h"
#include "tools/help_page.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::string utf8(const icu::UnicodeString& text) {
  std::string bytes;
  return text.toUTF8String(bytes);
}

std::vector<std::string> page_paths(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw DataError(folder.string() + ": no such folder; expected the unpacked pages of one " +
                    "language, .../libreoffice/help/LANGUAGE/text");
  }
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bool page = entry.is_regular_file() && entry.path().extension() == ".html";
    if (page) paths.push_back(entry.path().lexically_relative(folder).generic_string());
  }
  if (paths.empty()) {
    throw DataError(folder.string() + ": no .html page found; expected " +
                    ".../libreoffice/help/LANGUAGE/text of an unpacked help package");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

using TextById = std::unordered_map<std::string, icu::UnicodeString>;

TextById by_id(std::vector<Paragraph> paragraphs) {
  TextById texts;
  for (Paragraph& paragraph : paragraphs) texts.emplace(paragraph.id, paragraph.text);
  return texts;
}

std::vector<SentencePair> page_pairs(const fs::path& source, const fs::path& target) {
  std::vector<SentencePair> pairs;
  TextById translations = by_id(read_page(target));
  for (const Paragraph& paragraph : read_page(source)) {
    auto found = translations.find(paragraph.id);
    if (found == translations.end()) continue;
    auto both = aligned(paragraph.text, found->second);
    std::copy_if(both.begin(), both.end(), std::back_inserter(pairs), worth_keeping);
  }
  return pairs;
}

void check(const HelpCorpus& built, const HelpCorpusOptions& options) {
  if (built.common_pages == 0) {
    throw DataError("no page of " + options.source.string() + " has the same path in " +
                    options.target.string() + "; expected two languages of the same help");
  }
  if (built.corpus.entries().empty()) {
    throw DataError("no sentence pair found in " + options.source.string() + " and " +
                    options.target.string() + "; expected paragraphs with the same element id");
  }
}

}  // namespace

Part part_of_page(std::string_view path) { return part_of("lo:" + std::string(path)); }

void ParallelCorpus::add(const SentencePair& pair, Part part) {
  auto [at, is_new] = index_.emplace(utf8(sentence_key(pair.first)), entries_.size());
  if (is_new) {
    entries_.push_back({utf8(pair.first), utf8(pair.second), part});
  } else {
    Entry& known = entries_[at->second];
    known.part = std::min(known.part, part);
  }
}

std::array<size_t, 3> ParallelCorpus::counts() const {
  std::array<size_t, 3> counts{};
  for (const Entry& entry : entries_) ++counts[static_cast<size_t>(entry.part)];
  return counts;
}

HelpCorpus build_help_corpus(const HelpCorpusOptions& options) {
  HelpCorpus built;
  auto targets = page_paths(options.target);
  for (const std::string& path : page_paths(options.source)) {
    ++built.source_pages;
    if (!std::binary_search(targets.begin(), targets.end(), path)) continue;
    ++built.common_pages;
    for (const SentencePair& pair : page_pairs(options.source / path, options.target / path)) {
      built.corpus.add(pair, part_of_page(path));
    }
  }
  check(built, options);
  return built;
}

}  // namespace ballast
