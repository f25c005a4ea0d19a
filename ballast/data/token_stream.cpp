#include "ballast/data/token_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ballast {
namespace {

static_assert(std::has_unique_object_representations_v<StreamHeader>,
              "the checksum covers its bytes");
static_assert(sizeof(StreamHeader) % 8 == 0, "the arrays behind it are aligned");

constexpr uint64_t number_bytes = sizeof(uint64_t);

uint64_t checksum_of(std::span<const std::byte> body, StreamHeader header) {
  header.checksum = 0;
  uint64_t sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return crc32_z(sum, reinterpret_cast<const Bytef*>(&header), sizeof(header));
}

/// True for a header of this program and key whose sizes are exactly those of the file.
bool fits(const StreamHeader& header, const CorpusKey& key, uint64_t file_size) {
  const StreamHeader own;
  const auto vocabulary = static_cast<uint64_t>(key.target_vocabulary);
  if (header.magic != own.magic || header.version != own.version || header.hash != key.hash ||
      header.vocabulary != vocabulary || header.id_bytes != id_bytes_for(key.target_vocabulary)) {
    return false;
  }
  uint64_t rest = file_size - sizeof(StreamHeader);
  if (header.ids > rest / header.id_bytes) return false;
  const uint64_t ids = bytes_of_ids(header.ids, header.id_bytes);
  if (ids > rest) return false;
  rest -= ids;
  if (header.documents > rest / number_bytes) return false;
  rest -= header.documents * number_bytes;
  return header.files <= rest / number_bytes && rest == header.files * number_bytes;
}

bool rise(std::span<const uint64_t> ends, uint64_t last) {
  return std::is_sorted(ends.begin(), ends.end()) && (ends.empty() ? 0 : ends.back()) == last;
}

template <class T>
std::span<const T> part(std::span<const std::byte> bytes, uint64_t at, uint64_t count) {
  return {reinterpret_cast<const T*>(bytes.data() + at), count};
}

}  // namespace

uint64_t id_bytes_for(int64_t vocabulary) {
  return vocabulary <= int64_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
}

uint64_t bytes_of_ids(uint64_t ids, uint64_t id_bytes) {
  return (ids * id_bytes + number_bytes - 1) / number_bytes * number_bytes;
}

std::optional<TokenStream> TokenStream::open(const CorpusKey& key,
                                             const std::filesystem::path& file) {
  auto mapped = MappedFile::open(file);
  if (!mapped || mapped->bytes().size() < sizeof(StreamHeader)) return std::nullopt;
  TokenStream made;
  made.file_ = std::move(*mapped);
  const auto bytes = made.file_.bytes();
  StreamHeader& header = made.header_;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (!fits(header, key, bytes.size())) return std::nullopt;
  if (checksum_of(bytes.subspan(sizeof(header)), header) != header.checksum) return std::nullopt;
  const uint64_t documents = sizeof(header) + bytes_of_ids(header.ids, header.id_bytes);
  if (header.id_bytes == 2) {
    made.narrow_ = part<uint16_t>(bytes, sizeof(header), header.ids);
  } else {
    made.wide_ = part<uint32_t>(bytes, sizeof(header), header.ids);
  }
  made.document_ends_ = part<uint64_t>(bytes, documents, header.documents);
  made.file_ends_ =
      part<uint64_t>(bytes, documents + header.documents * number_bytes, header.files);
  if (!made.is_sound()) return std::nullopt;
  return made;
}

bool TokenStream::is_sound() const {
  const auto is_known = [&](uint64_t id) { return id < header_.vocabulary; };
  const auto not_rising = std::ranges::adjacent_find(document_ends_, std::greater_equal<>());
  return (document_ends_.empty() || document_ends_.front() > 0) &&
         not_rising == document_ends_.end() && rise(document_ends_, header_.ids) &&
         rise(file_ends_, header_.documents) && header_.text_ids <= header_.ids &&
         std::ranges::all_of(narrow_, is_known) && std::ranges::all_of(wide_, is_known);
}

int64_t TokenStream::operator[](int64_t place) const {
  return narrow_.empty() ? static_cast<int64_t>(wide_[place]) : int64_t{narrow_[place]};
}

void TokenStream::copy(int64_t begin, int64_t end, int64_t* out) const {
  if (narrow_.empty()) {
    std::copy(wide_.begin() + begin, wide_.begin() + end, out);
  } else {
    std::copy(narrow_.begin() + begin, narrow_.begin() + end, out);
  }
}

std::vector<int64_t> TokenStream::document(int64_t d) const {
  std::vector<int64_t> ids(static_cast<std::size_t>(document_end(d) - document_begin(d)));
  copy(document_begin(d), document_end(d), ids.data());
  return ids;
}

int64_t TokenStream::document_at(int64_t place) const {
  return std::ranges::upper_bound(document_ends_, static_cast<uint64_t>(place)) -
         document_ends_.begin();
}

int64_t TokenStream::file_end(int64_t f) const {
  const auto documents = static_cast<int64_t>(file_ends_[f]);
  return documents == 0 ? 0 : document_end(documents - 1);
}

}  // namespace ballast
