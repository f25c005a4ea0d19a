#include "ballast/data/encode_documents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <system_error>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/stream_draft.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped("stopped as asked");
}

/// The bytes of a file as they lie on disk, eight at a time.
uint64_t hash_of_file(const fs::path& file, const std::stop_token& stop) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> buffer(chunk_bytes);
  uint64_t hash = 0, size = 0;
  while (in) {
    stop_if_asked(stop);
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(count), buffer.end(), 0);
    for (std::size_t at = 0; at < count; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, buffer.data() + at, sizeof(word));
      hash = mix(hash, word);
    }
    size += count;
  }
  if (!in.eof()) {
    throw DataError(fmt::format("{}: cannot be read; check the path, its permissions and the disk",
                                file.string()));
  }
  return mix(hash, size);
}

/// 0 for what has none, such as a pipe.
int64_t size_of_file(const fs::path& file) {
  std::error_code failure;
  const auto size = fs::file_size(file, failure);
  return failure ? 0 : static_cast<int64_t>(size);
}

/// Turns documents into blocks; one for all threads.
class BlockEncoder {
 public:
  BlockEncoder(const Tokenizer& tokenizer, int64_t least_ids, std::stop_token stop)
      : tokenizer_(tokenizer),
        least_ids_(static_cast<std::size_t>(least_ids)),
        stop_(std::move(stop)) {}

  /// `keeps_blank`: a text without ids is an end piece.
  StreamBlock operator()(uint64_t file, bool keeps_blank,
                         const std::vector<std::string>& texts) const {
    StreamBlock block{.file = file, .read = texts.size()};
    const int64_t end = tokenizer_.end_id();
    for (const std::string& text : texts) {
      stop_if_asked(stop_);
      const std::vector<int64_t> ids = tokenizer_.encode(text);
      const std::size_t length = ids.size() + (end >= 0 ? 1 : 0);
      const bool is_blank = ids.empty() && !(keeps_blank && end >= 0);
      if (is_blank || length < least_ids_) continue;
      for (const int64_t id : ids) block.ids.push_back(static_cast<uint32_t>(id));
      if (end >= 0) block.ids.push_back(static_cast<uint32_t>(end));
      block.lengths.push_back(static_cast<uint32_t>(length));
      block.text_ids += ids.size();
      block.text_bytes += text.size();
    }
    return block;
  }

 private:
  const Tokenizer& tokenizer_;
  std::size_t least_ids_;
  std::stop_token stop_;
};

/// Hands chunks of documents to threads and takes the blocks in order.
class Encoding {
 public:
  Encoding(const DocumentFiles& text, const Tokenizer& tokenizer, const EncodingWork& work,
           StreamDraft& draft)
      : text_(text), work_(work), draft_(draft), encode_(tokenizer, text.least_ids, work.stop) {
    for (const std::string& file : text.files) {
      progress_.total_bytes += size_of_file(file);
    }
    progress_.ids = static_cast<int64_t>(draft.ids());
  }

  void run() {
    const uint64_t first = draft_.file(), done = draft_.documents_read();
    int64_t before = 0;
    for (uint64_t file = 0; file < text_.files.size(); ++file) {
      if (file >= first) run_file(file, file == first ? done : 0, before);
      before += size_of_file(text_.files[file]);
    }
    while (!waiting_.empty()) take();
  }

 private:
  struct Waiting {
    std::future<StreamBlock> block;
    int64_t bytes = 0;
  };

  void run_file(uint64_t file, uint64_t done, int64_t bytes_before) {
    const fs::path path = text_.files[file];
    DocumentReader reader(path, text_.rules);
    const bool keeps_blank = text_.rules.kind == Documents::lines && !is_json_lines(path);
    for (; done > 0 && reader.next(); --done) stop_if_asked(work_.stop);
    for (auto texts = chunk(reader); !texts.empty(); texts = chunk(reader)) {
      stop_if_asked(work_.stop);
      if (std::ssize(waiting_) >= std::max(work_.threads, 1)) take();
      const auto encode = [this, file, keeps_blank, texts = std::move(texts)] {
        return encode_(file, keeps_blank, texts);
      };
      waiting_.push_back(
          {std::async(std::launch::async, encode), bytes_before + reader.bytes_read()});
    }
  }

  static std::vector<std::string> chunk(DocumentReader& reader) {
    std::vector<std::string> texts;
    for (std::size_t bytes = 0; bytes < chunk_bytes;) {
      auto text = reader.next();
      if (!text) break;
      bytes += text->size() + 1;
      texts.push_back(std::move(*text));
    }
    return texts;
  }

  void take() {
    const StreamBlock block = waiting_.front().block.get();
    draft_.add(block);
    progress_.bytes = waiting_.front().bytes;
    progress_.ids += std::ssize(block.ids);
    waiting_.pop_front();
    if (work_.progress) work_.progress(progress_);
  }

  const DocumentFiles& text_;
  const EncodingWork& work_;
  StreamDraft& draft_;
  BlockEncoder encode_;
  std::deque<Waiting> waiting_;  // the last, for its threads read what is above
  EncodingProgress progress_;
};

/// A name for a file that lives as long as this.
class TemporaryName {
 public:
  explicit TemporaryName(fs::path name) : name_(std::move(name)) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    std::error_code ignored;
    fs::remove(name_, ignored);
  }

  const fs::path& path() const { return name_; }

 private:
  fs::path name_;
};

/// Encodes into `file`, by way of `drafted`.
TokenStream encoded(const DocumentFiles& text, const Tokenizer& tokenizer, const CorpusKey& key,
                    const fs::path& drafted, const fs::path& file, const EncodingWork& work) {
  StreamDraft draft(drafted, key);
  Encoding(text, tokenizer, work, draft).run();
  write_stream(draft, key, text.files.size(), file);
  auto made = TokenStream::open(key, file);
  if (made) return std::move(*made);
  throw StoreError(
      fmt::format("{}: the encoded corpus is not what was written; check the disk", file.string()));
}

TokenStream encoded_nowhere(const DocumentFiles& text, const Tokenizer& tokenizer,
                            const EncodingWork& work) {
  std::string folder = (fs::temp_directory_path() / "ballast-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw StoreError(fmt::format(
        "{}: no folder can be made there for the encoded text; say with TMPDIR where there is room",
        fs::temp_directory_path().string()));
  }
  const TemporaryName there(folder);
  const TemporaryName drafted(there.path() / "chunks"), file(there.path() / "tokens");
  const CorpusKey key{.target_vocabulary = tokenizer.size()};  // a pipe can be read only once
  return encoded(text, tokenizer, key, drafted.path(), file.path(), work);
}

}  // namespace

CorpusKey key_of_documents(const DocumentFiles& text, const Tokenizer& tokenizer,
                           const std::stop_token& stop) {
  uint64_t hash = mix(key_of("documents"), key_of(tokenizer.serialized()));
  hash = mix(hash, static_cast<uint64_t>(text.rules.kind));
  hash = mix(hash, key_of(text.rules.json_field));
  hash = mix(hash, text.rules.keeps_line_ends ? 1 : 0);
  hash = mix(hash, static_cast<uint64_t>(text.least_ids));
  for (const std::string& file : text.files) {
    hash = mix(mix(hash, is_json_lines(file) ? 1 : 0), hash_of_file(file, stop));
  }
  return {hash, 0, tokenizer.size()};
}

TokenStream encode_documents(const DocumentFiles& text, const Tokenizer& tokenizer,
                             const fs::path& cache, const EncodingWork& work) {
  if (cache.empty()) return encoded_nowhere(text, tokenizer, work);
  const CorpusKey key = key_of_documents(text, tokenizer, work.stop);
  if (auto kept = TokenStream::open(key, cache)) return std::move(*kept);
  const fs::path drafted = cache.string() + ".chunks";
  const TemporaryName written(fmt::format("{}.{}.draft", cache.string(), ::getpid()));
  TokenStream made = encoded(text, tokenizer, key, drafted, written.path(), work);
  std::error_code failure;
  fs::rename(written.path(), cache, failure);
  if (failure) {
    throw StoreError(
        fmt::format("{}: the encoded corpus could not be written: {}; check the folder",
                    cache.string(), failure.message()));
  }
  fs::remove(drafted, failure);
  return made;
}

}  // namespace ballast
