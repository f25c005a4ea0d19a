#include "ballast/data/stream_draft.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "ballast/base/error.h"
#include "ballast/data/token_stream.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

struct DraftHeader {
  std::array<char, 8> magic{'B', 'L', 'S', 'T', 'D', 'R', 'F', '\n'};
  uint64_t version = 1;
  uint64_t hash = 0;
  uint64_t vocabulary = 0;

  bool operator==(const DraftHeader&) const = default;
};

struct BlockHeader {
  uint64_t file = 0, read = 0, text_ids = 0, text_bytes = 0, ids = 0, documents = 0;
  uint64_t checksum = 0;  ///< CRC-32 of this, with 0 here, and of the arrays
};

template <class T>
std::span<const char> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::span<const char> bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

uint64_t checksum(std::span<const char> bytes, uint64_t before = 0) {
  if (bytes.empty()) return before;  // zlib forgets the sum so far where there is no buffer
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

template <class T>
void write(std::ostream& out, const T& value) {
  const auto bytes = bytes_of(value);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

template <class T>
bool read(std::istream& in, T& value) {
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&value), sizeof(value)));
}

bool read(std::istream& in, std::vector<uint32_t>& values, uint64_t count) {
  values.resize(count);
  return static_cast<bool>(in.read(reinterpret_cast<char*>(values.data()),
                                   static_cast<std::streamsize>(count * sizeof(values.front()))));
}

BlockHeader header_of(const StreamBlock& block) {
  BlockHeader header{.file = block.file,
                     .read = block.read,
                     .text_ids = block.text_ids,
                     .text_bytes = block.text_bytes,
                     .ids = block.ids.size(),
                     .documents = block.lengths.size()};
  header.checksum =
      checksum(bytes_of(block.lengths), checksum(bytes_of(block.ids), checksum(bytes_of(header))));
  return header;
}

/// The next block of a draft, or nothing where the sound part ends: no size that it states is
/// trusted beyond the `rest` of the file.
std::optional<StreamBlock> next_block(std::istream& in, uint64_t rest) {
  BlockHeader header;
  if (rest < sizeof(header) || !read(in, header)) return std::nullopt;
  const uint64_t numbers = (rest - sizeof(header)) / sizeof(uint32_t);
  if (header.ids > numbers || header.documents > numbers - header.ids) return std::nullopt;
  StreamBlock block{.file = header.file,
                    .read = header.read,
                    .text_ids = header.text_ids,
                    .text_bytes = header.text_bytes};
  if (!read(in, block.ids, header.ids) || !read(in, block.lengths, header.documents) ||
      header_of(block).checksum != header.checksum) {
    return std::nullopt;
  }
  const uint64_t sum = std::accumulate(block.lengths.begin(), block.lengths.end(), uint64_t{0});
  if (sum != header.ids || header.documents > header.read) return std::nullopt;
  return block;
}

/// Writes and sums up what was written.
class SummedFile {
 public:
  explicit SummedFile(const fs::path& file) : out_(file, std::ios::binary | std::ios::trunc) {}

  void skip(std::size_t bytes) { out_.seekp(static_cast<std::streamoff>(bytes)); }

  template <class T>
  void add(const std::vector<T>& values) {
    sum_ = checksum(bytes_of(values), sum_);
    write(out_, values);
  }

  void end(StreamHeader header) {
    header.checksum = checksum(bytes_of(header), sum_);
    out_.seekp(0);
    write(out_, header);
    out_.close();
  }

  bool is_good() const { return out_.good(); }

 private:
  std::ofstream out_;
  uint64_t sum_ = 0;
};

void add_ids(const StreamDraft& draft, StreamHeader& header, SummedFile& out) {
  draft.for_each([&](const StreamBlock& block) {
    header.ids += block.ids.size();
    header.documents += block.lengths.size();
    header.text_ids += block.text_ids;
    header.text_bytes += block.text_bytes;
    header.dropped += block.read - block.lengths.size();
    if (header.id_bytes == sizeof(uint16_t)) {
      out.add(std::vector<uint16_t>(block.ids.begin(), block.ids.end()));
    } else {
      out.add(block.ids);
    }
  });
  const uint64_t filling = bytes_of_ids(header.ids, header.id_bytes) - header.ids * header.id_bytes;
  out.add(std::vector<char>(filling));
}

void add_ends(const StreamDraft& draft, uint64_t files, SummedFile& out) {
  std::vector<uint64_t> in_file(files);
  uint64_t end = 0;
  draft.for_each([&](const StreamBlock& block) {
    std::vector<uint64_t> ends;
    for (const uint32_t length : block.lengths) ends.push_back(end += length);
    in_file.at(block.file) += ends.size();
    out.add(ends);
  });
  uint64_t documents = 0;
  for (uint64_t& each : in_file) each = documents += each;
  out.add(in_file);
}

}  // namespace

StreamDraft::StreamDraft(fs::path file, const CorpusKey& key) : path_(std::move(file)) {
  const DraftHeader own{.hash = key.hash,
                        .vocabulary = static_cast<uint64_t>(key.target_vocabulary)};
  std::error_code none;
  const uint64_t size = fs::is_regular_file(path_, none) ? fs::file_size(path_, none) : 0;
  std::ifstream in(path_, std::ios::binary);
  DraftHeader found;
  if (size >= sizeof(found) && read(in, found) && found == own) {
    uint64_t sound = sizeof(found);
    while (const auto block = next_block(in, size - sound)) {
      if (block->file < file_number_) break;
      count(*block);
      sound = static_cast<uint64_t>(in.tellg());
    }
    std::error_code failure;
    fs::resize_file(path_, sound, failure);
    if (failure) fail();
    out_.open(path_, std::ios::binary | std::ios::app);
  } else {
    out_.open(path_, std::ios::binary | std::ios::trunc);
    write(out_, own);
  }
  if (!out_.flush()) fail();
}

void StreamDraft::count(const StreamBlock& block) {
  read_ = block.file == file_number_ ? read_ + block.read : block.read;
  file_number_ = block.file;
  ids_ += block.ids.size();
}

void StreamDraft::add(const StreamBlock& block) {
  write(out_, header_of(block));
  write(out_, block.ids);
  write(out_, block.lengths);
  if (!out_.flush()) fail();
  count(block);
}

void StreamDraft::for_each(const std::function<void(const StreamBlock&)>& visit) const {
  const uint64_t size = fs::file_size(path_);
  std::ifstream in(path_, std::ios::binary);
  in.seekg(sizeof(DraftHeader));
  uint64_t at = sizeof(DraftHeader);
  while (const auto block = next_block(in, size - at)) {
    visit(*block);
    at = static_cast<uint64_t>(in.tellg());
  }
  if (at != size) {
    throw StoreError(fmt::format("{}: changed while it was read; prepare again", path_.string()));
  }
}

void StreamDraft::fail() const {
  throw StoreError(fmt::format(
      "{}: the encoded corpus could not be written; check the folder and the space on the disk",
      path_.string()));
}

void write_stream(const StreamDraft& draft, const CorpusKey& key, uint64_t files,
                  const fs::path& file) {
  StreamHeader header{.hash = key.hash,
                      .vocabulary = static_cast<uint64_t>(key.target_vocabulary),
                      .id_bytes = id_bytes_for(key.target_vocabulary),
                      .files = files};
  SummedFile out(file);
  out.skip(sizeof(header));
  add_ids(draft, header, out);
  add_ends(draft, files, out);
  out.end(header);
  if (out.is_good()) return;
  std::error_code ignored;
  fs::remove(file, ignored);
  throw StoreError(fmt::format(
      "{}: the encoded corpus could not be written; check the folder and the space on the disk",
      file.string()));
}

}  // namespace ballast
