#include "ballast/data/corpus_cache.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"

namespace ballast {
namespace {

static_assert(std::endian::native == std::endian::little, "the file holds numbers as in memory");

namespace fs = std::filesystem;

/// The front of the file; after it come the four arrays, in the order of `sizes`.
struct Header {
  std::array<char, 8> magic{'B', 'L', 'S', 'T', 'C', 'R', 'P', '\n'};
  uint64_t version = 1;
  uint64_t hash = 0;
  int64_t vocabulary_size = 0;  ///< of the target; the hash tells sources apart
  int64_t dropped_empty = 0, dropped_long = 0, truncated = 0;
  std::array<uint64_t, 4> sizes{};  ///< elements: source ids, ends, target ids, ends
  uint64_t checksum = 0;            ///< CRC-32 of the header, this being 0, and the arrays
};

static_assert(std::has_unique_object_representations_v<Header>, "the checksum covers its bytes");

constexpr std::array<uint64_t, 4> element_sizes{sizeof(int32_t), sizeof(int64_t), sizeof(int32_t),
                                                sizeof(int64_t)};

template <class T>
std::span<const char> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::array<std::span<const char>, 4> arrays_of(const EncodedCorpus& corpus) {
  return {bytes_of(corpus.source.ids()), bytes_of(corpus.source.ends()),
          bytes_of(corpus.target.ids()), bytes_of(corpus.target.ends())};
}

uint64_t checksum(std::span<const char> bytes, uint64_t before) {
  if (bytes.empty()) return before;  // zlib forgets the sum so far where there is no buffer
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

Header header_of(const EncodedCorpus& corpus, const CorpusKey& key) {
  Header header{.hash = key.hash,
                .vocabulary_size = key.target_vocabulary,
                .dropped_empty = corpus.dropped_empty,
                .dropped_long = corpus.dropped_long,
                .truncated = corpus.truncated};
  const auto arrays = arrays_of(corpus);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    header.sizes[i] = arrays[i].size() / element_sizes[i];
  }
  uint64_t sum = checksum({reinterpret_cast<const char*>(&header), sizeof(header)}, 0);
  for (const auto array : arrays) sum = checksum(array, sum);
  header.checksum = sum;
  return header;
}

/// True for a header of this program and key whose sizes are exactly those of the file.
bool fits(const Header& header, const CorpusKey& key, uint64_t file_size) {
  const Header own;
  if (header.magic != own.magic || header.version != own.version || header.hash != key.hash ||
      header.vocabulary_size != key.target_vocabulary || file_size < sizeof(Header)) {
    return false;
  }
  uint64_t rest = file_size - sizeof(Header);
  for (std::size_t i = 0; i < header.sizes.size(); ++i) {
    if (header.sizes[i] > rest / element_sizes[i]) return false;
    rest -= header.sizes[i] * element_sizes[i];
  }
  return rest == 0;
}

template <class T>
std::vector<T> read_array(std::istream& in, uint64_t count) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

/// True when the lists are what `encode` and `encode_stream` make.
bool is_sound(const EncodedCorpus& corpus, const CorpusKey& key) {
  const auto all_known = [](const TokenLists& lists, int64_t vocabulary) {
    return std::all_of(lists.ids().begin(), lists.ids().end(),
                       [&](int32_t id) { return id >= 0 && id < vocabulary; });
  };
  const auto at_least = [](const TokenLists& lists, int64_t least) {
    for (int64_t i = 0; i < lists.count(); ++i) {
      if (lists.length(i) < least) return false;
    }
    return true;
  };
  return (!corpus.is_parallel() || corpus.source.count() == corpus.target.count()) &&
         all_known(corpus.source, key.source_vocabulary) &&
         all_known(corpus.target, key.target_vocabulary) && at_least(corpus.source, 1) &&
         at_least(corpus.target, 2);
}

EncodedCorpus read_corpus(std::istream& in, const Header& header) {
  auto source_ids = read_array<int32_t>(in, header.sizes[0]);
  auto source_ends = read_array<int64_t>(in, header.sizes[1]);
  auto target_ids = read_array<int32_t>(in, header.sizes[2]);
  auto target_ends = read_array<int64_t>(in, header.sizes[3]);
  return {TokenLists(std::move(source_ids), std::move(source_ends)),
          TokenLists(std::move(target_ids), std::move(target_ends)), header.dropped_empty,
          header.dropped_long, header.truncated};
}

uint64_t hash_of(std::span<const std::string> lines, uint64_t hash) {
  for (const std::string& line : lines) hash = mix(hash, key_of(line));
  return mix(hash, lines.size());
}

uint64_t hash_of(const Tokenizers& tokenizers, std::string_view purpose) {
  const uint64_t source = mix(key_of(purpose), key_of(tokenizers.source.serialized()));
  return tokenizers.joint() ? source : mix(source, key_of(tokenizers.target.serialized()));
}

}  // namespace

CorpusKey key_of_pairs(const ParallelText& text, const Tokenizers& tokenizers,
                       const LengthLimit& limit) {
  uint64_t hash = hash_of(tokenizers, "pairs");
  for (const int64_t number : {limit.max_length, static_cast<int64_t>(limit.truncate),
                               text.dropped_one_empty, text.dropped_both_empty}) {
    hash = mix(hash, static_cast<uint64_t>(number));
  }
  return {hash_of(text.target, hash_of(text.source, hash)), tokenizers.source.size(),
          tokenizers.target.size()};
}

void save_corpus(const EncodedCorpus& corpus, const CorpusKey& key, const fs::path& file) {
  const fs::path draft = fmt::format("{}.{}.draft", file.string(), ::getpid());
  const Header header = header_of(corpus, key);
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const auto array : arrays_of(corpus)) {
    out.write(array.data(), static_cast<std::streamsize>(array.size()));
  }
  out.close();
  std::error_code failure;
  if (out) fs::rename(draft, file, failure);
  if (out && !failure) return;
  std::error_code ignored;
  fs::remove(draft, ignored);
  throw StoreError(fmt::format(
      "{}: the encoded corpus could not be written{}; check the folder and the space on the disk",
      file.string(), failure ? ": " + failure.message() : std::string()));
}

std::optional<EncodedCorpus> load_corpus(const CorpusKey& key, const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) return std::nullopt;
  const uint64_t size = fs::file_size(file, failure);
  std::ifstream in(file, std::ios::binary);
  Header header;
  if (failure || !in.read(reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
  if (!fits(header, key, size)) return std::nullopt;
  try {
    EncodedCorpus corpus = read_corpus(in, header);
    const bool whole = in && header_of(corpus, key).checksum == header.checksum;
    if (whole && is_sound(corpus, key)) return corpus;
  } catch (const DataError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ballast
