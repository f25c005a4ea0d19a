#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ballast/data/byte_pairs.h"
#include "ballast/data/tokenizer.h"

// Byte-level vocabularies beside Hugging Face's tokenizers (small ones, made for this), and that of
// GPT-2 itself beside the ids that llama.cpp tests with.
namespace ballast {
namespace {

using Ids = std::vector<int64_t>;

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TokenizerGolden, EqualsHuggingFacesTokenizers) {
  const auto golden = nlohmann::json::parse(bytes_of(BALLAST_GOLDEN "/tokenizer_golden.json"));
  ASSERT_EQ(golden["cases"].size(), 6U);
  for (const auto& each : golden["cases"]) {
    const auto name = each["name"].get<std::string>();
    const Tokenizer tokenizer = Tokenizer::from_json(each["tokenizer"].dump(), name);
    for (size_t i = 0; i < golden["texts"].size(); ++i) {
      const auto text = golden["texts"][i].get<std::string>();
      const auto ids = each["ids"][i].get<Ids>();
      EXPECT_EQ(tokenizer.encode(text), ids) << name << ": " << text;
      EXPECT_EQ(tokenizer.decode(ids), each["decoded"][i].get<std::string>()) << name;
    }
  }
}

/// A list of texts of a GGUF file's header: its key, two types, a count, and for each text its
/// length in eight bytes and itself. The stored copy has every byte that is not UTF-8 replaced,
/// counts and lengths above 127 among them, so that what separates two texts is the seven zeros of
/// a length.
std::vector<std::string> texts_of(const std::string& gguf, const std::string& key, size_t count) {
  const std::string zeros(6, '\0');
  const std::string lost = "\xEF\xBF\xBD";
  const auto after_length = [&](size_t from) {
    return gguf.find_first_not_of('\0', gguf.find(zeros, from));
  };
  std::vector<std::string> texts;
  size_t at = after_length(after_length(gguf.find(key) + key.size() + 8));
  while (texts.size() < count) {
    const size_t next = after_length(at);
    std::string text = gguf.substr(at, next - at - zeros.size() - 1);
    text.resize(text.size() - (text.ends_with(lost) ? lost.size() : 1));
    texts.push_back(text);
    at = next;
  }
  return texts;
}

std::vector<std::string> separated(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + mark.size();
  }
  return parts;
}

TEST(TokenizerGolden, OfGpt2GivesTheIdsThatOthersGive) {
  const std::string file = BALLAST_SHARED_DATA "/tokenizers/ggml-vocab-gpt-2.gguf";
  const std::string gguf = bytes_of(file);
  const auto pieces = texts_of(gguf, "tokenizer.ggml.tokens", 50257);
  auto vocabulary = nlohmann::json::object();
  for (size_t id = 0; id < pieces.size(); ++id) vocabulary[pieces[id]] = id;
  std::string merges = "#version: 0.2\n";
  for (const auto& merge : texts_of(gguf, "tokenizer.ggml.merges", 50000)) merges += merge + "\n";
  const Tokenizer tokenizer = Tokenizer::from_json(
      tokenizer_json_of(vocabulary.dump(), "vocab.json", merges, "merges.txt"), "gpt2");
  EXPECT_EQ(tokenizer.size(), 50257);
  EXPECT_EQ(tokenizer.end_id(), 50256);
  EXPECT_EQ(tokenizer.begin_id(), 50256);
  const auto texts = separated(bytes_of(file + ".inp"), "\n__ggml_vocab_test__\n");
  const auto expected = separated(bytes_of(file + ".out"), "\n");
  ASSERT_EQ(texts.size(), 47U);
  ASSERT_GE(expected.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::istringstream numbers(expected[i]);
    const Ids ids{std::istream_iterator<int64_t>(numbers), {}};
    EXPECT_EQ(tokenizer.encode(texts[i]), ids) << texts[i];
    EXPECT_EQ(tokenizer.decode(ids), texts[i]);
  }
}

}  // namespace
}  // namespace ballast
