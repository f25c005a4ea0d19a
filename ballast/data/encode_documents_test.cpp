#include "ballast/data/encode_documents.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/stream_draft.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// Words w0 to w9 have the ids 4 to 13: the special ones come first, <s> 0, <pad> 1, </s> 2,
/// <unk> 3.
const Tokenizer& words() {
  static const Tokenizer made = [] {
    std::vector<std::string> list;
    for (int i = 0; i < 10; ++i) list.push_back(fmt::format("w{}", i));
    return Tokenizer::from_words(list, "words");
  }();
  return made;
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class EncodedDocuments : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  /// Lines of a few words; more than one chunk of them.
  std::string large(const std::string& name, uint64_t seed, int lines) const {
    std::string text;
    for (int i = 0; i < lines; ++i) {
      const auto random = philox(seed, static_cast<uint64_t>(i));
      for (uint32_t word = 0; word <= random[0] % 9; ++word) {
        text += fmt::format("w{} ", (random[1] >> (3 * word)) % 10);
      }
      text += '\n';
    }
    return put(name, text);
  }

  TokenStream encoded(const DocumentFiles& text, int threads = 1) const {
    return encode_documents(text, words(), {}, {.threads = threads});
  }

  TemporaryDirectory folder_;
};

TEST_F(EncodedDocuments, HaveTheEndPieceBehindEach) {
  const TokenStream stream = encoded(
      {{put("a", "w0 w1\n\nw2"), put("b.jsonl", "{\"text\": \"w3 w4\"}\n{\"text\": \"\"}")}});
  ASSERT_EQ(stream.documents(), 4);
  EXPECT_THAT(stream.document(0), ElementsAre(4, 5, 2));
  EXPECT_THAT(stream.document(1), ElementsAre(2));  // a blank line; a blank text is left out
  EXPECT_THAT(stream.document(2), ElementsAre(6, 2));
  EXPECT_THAT(stream.document(3), ElementsAre(7, 8, 2));
  EXPECT_EQ(stream.dropped(), 1);
  EXPECT_EQ(stream.text_ids(), 5);
  EXPECT_EQ(stream.text_bytes(), 5 + 0 + 2 + 5);
  EXPECT_EQ(stream.file_end(0), 6);
}

TEST_F(EncodedDocuments, AreLeftOutWhenTheyAreTooShort) {
  const DocumentFiles text{
      {put("a", "w0\n\nw1 w2\n\n\nw3\n")}, {.kind = Documents::empty_lines}, 3};
  const TokenStream stream = encoded(text);
  ASSERT_EQ(stream.documents(), 1);
  EXPECT_THAT(stream.document(0), ElementsAre(5, 6, 2));
  EXPECT_EQ(stream.dropped(), 2);
}

TEST_F(EncodedDocuments, CanBeNone) {
  EXPECT_EQ(encoded({{put("a", "")}}).documents(), 0);
  EXPECT_EQ(encoded({{put("a", "\n\n")}}).text_ids(), 0);
  EXPECT_EQ(encoded({{put("a", "\n\n")}, {.kind = Documents::empty_lines}}).documents(), 0);
}

TEST_F(EncodedDocuments, AreTheSameFileForAnyNumberOfThreads) {
  const DocumentFiles text{{large("a", 1, 150'000), large("b", 2, 10), large("c", 3, 90'000)}};
  for (const int threads : {1, 2, 3, 8}) {
    encode_documents(text, words(), folder_ / fmt::format("{}.tokens", threads),
                     {.threads = threads});
  }
  const std::string one = content(folder_ / "1.tokens");
  EXPECT_GT(one.size(), 1'000'000U);
  for (const char* name : {"2.tokens", "3.tokens", "8.tokens"}) {
    EXPECT_TRUE(content(folder_ / name) == one) << name;
    EXPECT_FALSE(fs::exists(folder_ / (std::string(name) + ".chunks")));
  }
}

TEST_F(EncodedDocuments, GoOnWhereTheyWereStopped) {
  const DocumentFiles text{{large("a", 1, 100'000), large("b", 2, 100'000)}};
  const fs::path whole = folder_ / "whole", cache = folder_ / "cut";
  encode_documents(text, words(), whole, {.threads = 2});
  int stops = 0;
  for (bool is_done = false; !is_done; ++stops) {
    std::stop_source stop;
    int blocks = 0;
    const auto progress = [&](const EncodingProgress&) {
      if (++blocks == 1) stop.request_stop();
    };
    try {
      encode_documents(text, words(), cache, {2, stop.get_token(), progress});
      is_done = true;
    } catch (const Stopped&) {
      EXPECT_FALSE(fs::exists(cache));
      EXPECT_TRUE(fs::exists(cache.string() + ".chunks"));
    }
    ASSERT_LT(stops, 100);
  }
  EXPECT_GE(stops, 3);
  EXPECT_TRUE(content(cache) == content(whole));
}

TEST_F(EncodedDocuments, TellHowFarTheyAre) {
  const DocumentFiles text{{large("a", 1, 100'000), large("b", 2, 100'000)}};
  EncodingProgress last;
  const auto progress = [&](const EncodingProgress& now) {
    EXPECT_GE(now.bytes, last.bytes);
    EXPECT_GT(now.ids, last.ids);
    last = now;
  };
  const TokenStream stream = encode_documents(text, words(), {}, {2, {}, progress});
  EXPECT_EQ(last.ids, stream.size());
  EXPECT_EQ(last.bytes, last.total_bytes);
  EXPECT_EQ(last.bytes,
            static_cast<int64_t>(fs::file_size(folder_ / "a") + fs::file_size(folder_ / "b")));
}

TEST_F(EncodedDocuments, AreTakenFromTheCacheUnlessSomethingChanged) {
  const fs::path cache = folder_ / "cache";
  int encodings = 0;
  const auto encode = [&](const DocumentFiles& text) {
    return encode_documents(text, words(), cache,
                            {1, {}, [&](const EncodingProgress&) { ++encodings; }});
  };
  DocumentFiles text{{put("a", "w0 w1\nw2\n")}};
  encode(text);
  EXPECT_EQ(encode(text).documents(), 2);
  EXPECT_EQ(encodings, 1);
  put("a", "w0 w1\nw3\n");
  EXPECT_THAT(encode(text).document(1), ElementsAre(7, 2));
  text.rules.kind = Documents::file;
  EXPECT_EQ(encode(text).documents(), 1);
  EXPECT_EQ(encodings, 3);
  std::ofstream(cache, std::ios::binary | std::ios::in).seekp(200).put('x');
  EXPECT_EQ(encode(text).documents(), 1);
  EXPECT_EQ(encodings, 4);
}

TEST_F(EncodedDocuments, SayWhereTheTextIsBad) {
  const DocumentFiles text{{put("a.jsonl", "{\"text\": \"w0\"}\nw1\n")}};
  EXPECT_THROW(encoded(text, 4), DataError);
  EXPECT_THROW(encoded({{(folder_ / "missing").string()}}), DataError);
  EXPECT_THROW(encode_documents({{put("b", "w0")}}, words(), folder_ / "no" / "folder", {}),
               StoreError);
}

}  // namespace
}  // namespace ballast
