#include "ballast/data/vocabulary_file.h"

#include <fmt/format.h>

#include <array>

#include "ballast/base/error.h"
#include "ballast/data/byte_pairs.h"
#include "ballast/data/byte_source.h"
#include "ballast/data/learn_vocabulary.h"
#include "ballast/data/text.h"

namespace ballast {
namespace {

/// No vocabulary is larger; what goes on beyond is no model, or unpacks without end.
constexpr std::size_t largest_model = std::size_t{256} << 20;

std::string bytes_of(const std::filesystem::path& file) {
  const auto source = open_bytes(file);
  std::string bytes;
  std::array<char, 1 << 16> part{};
  while (const std::size_t count = source->read(part)) {
    bytes.append(part.data(), count);
    if (bytes.size() <= largest_model) continue;
    throw DataError(fmt::format("{}: is larger than {} bytes, expected a vocabulary", file.string(),
                                largest_model));
  }
  return bytes;
}

}  // namespace

std::string read_model(const std::filesystem::path& file, const std::stop_token& stop) {
  std::string model = bytes_of(file);
  check_model(model, file.string(), stop);
  return model;
}

Tokenizer read_sentencepiece(const std::filesystem::path& file, const std::stop_token& stop) {
  std::string model = read_model(file, stop);
  try {
    return Tokenizer::from_model(std::move(model));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

Tokenizer read_words(const std::filesystem::path& file) {
  return Tokenizer::from_words(read_lines(file), file.string());
}

Tokenizer read_byte_pairs(const std::filesystem::path& file, const std::filesystem::path& merges) {
  std::string json = bytes_of(file);
  if (is_list_of_pieces(json)) {
    const auto beside = merges.empty() ? file.parent_path() / "merges.txt" : merges;
    json = tokenizer_json_of(json, file.string(), bytes_of(beside), beside.string());
  } else if (!merges.empty()) {
    throw DataError(fmt::format("{}: is no vocab.json, whose merges {} would be; leave merges out",
                                file.string(), merges.string()));
  }
  return Tokenizer::from_json(std::move(json), file.string());
}

Tokenizer byte_tokenizer() { return Tokenizer::from_json(tokenizer_json_of_bytes(), "bytes"); }

}  // namespace ballast
