#include "tools/corpus_writer.h"

#include <unistd.h>

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

void write_side(const ParallelCorpus& corpus, Part part, std::string ParallelCorpus::Entry::*side,
                const fs::path& file) {
  std::ofstream stream(file, std::ios::binary);
  for (const auto& entry : corpus.entries()) {
    if (entry.part == part) stream << entry.*side << '\n';
  }
  close_written(stream, file);
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
  close_written(stream, folder / "origin.txt");
}

}  // namespace

void check_free(const fs::path& folder) {
  if (fs::exists(folder)) {
    throw DataError(folder.string() +
                    ": already there; remove it or choose another folder with --out");
  }
}

void close_written(std::ofstream& stream, const fs::path& file) {
  stream.close();
  if (!stream) throw StoreError(file.string() + ": cannot be written; check space and permissions");
}

void write_folder(const fs::path& folder, const std::function<void(const fs::path&)>& write) {
  check_free(folder);
  try {
    Scratch scratch(folder);
    write(scratch.path());
    fs::rename(scratch.path(), folder);
  } catch (const fs::filesystem_error& error) {
    throw StoreError(folder.string() + ": cannot be written: " + error.code().message());
  }
}

void write_corpus(const ParallelCorpus& corpus, const CorpusFiles& files) {
  write_folder(files.folder, [&](const fs::path& scratch) { write_all(corpus, files, scratch); });
}

}  // namespace ballast
