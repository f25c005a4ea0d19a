#include "tools/corpus_writer.h"

#include <unistd.h>

#include <fstream>
#include <string_view>

#include "ballast/base/error.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// Removed again unless it became the corpus.
class Scratch {
 public:
  explicit Scratch(const fs::path& final)
      : path_(final.string() + ".partial-" + std::to_string(getpid())) {
    fs::create_directories(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void close(std::ofstream& stream, const fs::path& file) {
  stream.close();
  if (!stream) throw StoreError(file.string() + ": cannot be written; check space and permissions");
}

void write_side(const ParallelCorpus& corpus, Part part, std::string ParallelCorpus::Entry::*side,
                const fs::path& file) {
  std::ofstream stream(file, std::ios::binary);
  for (const auto& entry : corpus.entries()) {
    if (entry.part == part) stream << entry.*side << '\n';
  }
  close(stream, file);
}

void write_all(const ParallelCorpus& corpus, const CorpusFiles& files, const fs::path& folder) {
  for (Part part : {Part::train, Part::valid, Part::test}) {
    std::string stem(kPartNames[static_cast<size_t>(part)]);
    write_side(corpus, part, &ParallelCorpus::Entry::source,
               folder / (stem + "." + files.languages[0]));
    write_side(corpus, part, &ParallelCorpus::Entry::target,
               folder / (stem + "." + files.languages[1]));
  }
  if (files.origin.empty()) return;
  std::ofstream stream(folder / "origin.txt", std::ios::binary);
  stream << files.origin << '\n';
  close(stream, folder / "origin.txt");
}

}  // namespace

void check_free(const CorpusFiles& files) {
  if (fs::exists(files.folder)) {
    throw DataError(files.folder.string() +
                    ": already there; remove it or choose another folder with --out");
  }
}

void write_corpus(const ParallelCorpus& corpus, const CorpusFiles& files) {
  check_free(files);
  try {
    Scratch scratch(files.folder);
    write_all(corpus, files, scratch.path());
    fs::rename(scratch.path(), files.folder);
  } catch (const fs::filesystem_error& error) {
    throw StoreError(files.folder.string() + ": cannot be written: " + error.code().message());
  }
}

}  // namespace ballast
