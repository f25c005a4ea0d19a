#include "ballast/data/token_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "ballast/data/stream_draft.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

class StreamFile : public ::testing::Test {
 protected:
  /// Two text files: documents of 2 and 1 ids, and one of 3.
  std::string written(const CorpusKey& key) const {
    StreamDraft draft(drafted_, key);
    draft.add({.file = 0,
               .read = 3,
               .text_ids = 2,
               .text_bytes = 9,
               .ids = {5, 3, 3},
               .lengths = {2, 1}});
    draft.add(
        {.file = 1, .read = 1, .text_ids = 2, .text_bytes = 4, .ids = {6, 7, 3}, .lengths = {3}});
    write_stream(draft, key, 2, file_);
    return content(file_);
  }

  std::optional<TokenStream> opened(const std::string& bytes) const {
    put(file_, bytes);
    return TokenStream::open(key_, file_);
  }

  TemporaryDirectory folder_;
  fs::path file_ = folder_ / "tokens", drafted_ = folder_ / "chunks";
  CorpusKey key_{.hash = 5, .target_vocabulary = 8};
};

TEST_F(StreamFile, HoldsDocumentsOfFiles) {
  const auto stream = opened(written(key_));
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->size(), 6);
  EXPECT_EQ(stream->text_ids(), 4);
  EXPECT_EQ(stream->text_bytes(), 13);
  EXPECT_EQ(stream->dropped(), 1);
  ASSERT_EQ(stream->documents(), 3);
  EXPECT_THAT(stream->document(0), ElementsAre(5, 3));
  EXPECT_THAT(stream->document(1), ElementsAre(3));
  EXPECT_THAT(stream->document(2), ElementsAre(6, 7, 3));
  for (int64_t d = 0; d < 3; ++d) {
    for (int64_t i = stream->document_begin(d); i < stream->document_end(d); ++i) {
      EXPECT_EQ(stream->document_at(i), d);
    }
  }
  ASSERT_EQ(stream->files(), 2);
  EXPECT_EQ(stream->file_end(0), 3);
  EXPECT_EQ(stream->file_end(1), 6);
}

TEST_F(StreamFile, TakesWiderIdsWhereTheVocabularyNeedsThem) {
  EXPECT_EQ(id_bytes_for(65'536), 2U);
  EXPECT_EQ(id_bytes_for(65'537), 4U);
  const CorpusKey key{.hash = 5, .target_vocabulary = 70'000};
  StreamDraft draft(drafted_, key);
  draft.add({.read = 1, .text_ids = 2, .ids = {69'999, 65'535}, .lengths = {2}});
  write_stream(draft, key, 1, file_);
  const auto stream = TokenStream::open(key, file_);
  ASSERT_TRUE(stream);
  EXPECT_THAT(stream->document(0), ElementsAre(69'999, 65'535));
}

TEST_F(StreamFile, IsNotOpenedForAnotherKey) {
  written(key_);
  EXPECT_FALSE(TokenStream::open({.hash = 6, .target_vocabulary = 8}, file_));
  EXPECT_FALSE(TokenStream::open({.hash = 5, .target_vocabulary = 9}, file_));
  EXPECT_FALSE(TokenStream::open(key_, folder_ / "missing"));
  EXPECT_FALSE(TokenStream::open(key_, folder_.path()));
  EXPECT_TRUE(TokenStream::open(key_, file_));
}

TEST_F(StreamFile, IsNotOpenedWhenItIsCutOrLonger) {
  const std::string bytes = written(key_);
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_FALSE(opened(bytes.substr(0, kept))) << kept;
  }
  EXPECT_FALSE(opened(bytes + "x"));
  EXPECT_FALSE(opened(bytes + std::string(8, '\0')));
  EXPECT_TRUE(opened(bytes));
}

TEST_F(StreamFile, IsNotOpenedWithAnyBitTurned) {
  const std::string bytes = written(key_);
  for (std::size_t at = 0; at < 8 * bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at / 8] = static_cast<char>(damaged[at / 8] ^ (1 << at % 8));
    EXPECT_FALSE(opened(damaged)) << at;
  }
}

// Sizes of which the product or the sum would leave 64 bits.
TEST_F(StreamFile, IsNotOpenedWithSizesThatOverflow) {
  const std::string bytes = written(key_);
  constexpr std::size_t sizes[] = {offsetof(StreamHeader, ids), offsetof(StreamHeader, documents),
                                   offsetof(StreamHeader, files)};
  for (const std::size_t at : sizes) {
    for (const uint64_t size : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 61}) {
      std::string damaged = bytes;
      std::memcpy(damaged.data() + at, &size, sizeof(size));
      EXPECT_FALSE(opened(damaged)) << at << " " << size;
    }
  }
}

TEST_F(StreamFile, IsNotOpenedWithIdsBeyondTheVocabulary) {
  const CorpusKey key{.hash = 5, .target_vocabulary = 7};  // of which 6 is the last id
  written(key);
  EXPECT_FALSE(TokenStream::open(key, file_));
}

// The checksum is right, but a document has no id.
TEST_F(StreamFile, IsNotOpenedWithDocumentsThatNoEncoderMakes) {
  for (const std::vector<uint32_t>& lengths : {std::vector<uint32_t>{0, 3}, {3, 0}}) {
    fs::remove(drafted_);
    StreamDraft draft(drafted_, key_);
    draft.add({.read = 2, .ids = {5, 3, 3}, .lengths = lengths});
    write_stream(draft, key_, 1, file_);
    EXPECT_FALSE(TokenStream::open(key_, file_));
  }
}

TEST_F(StreamFile, DraftsWithLengthsThatAreNotThoseOfTheIdsAreNotTrusted) {
  for (const std::vector<uint32_t>& lengths : {std::vector<uint32_t>{2}, {2, 2}, {1, 1, 1}}) {
    fs::remove(drafted_);
    StreamDraft(drafted_, key_).add({.read = 2, .ids = {5, 3, 3}, .lengths = lengths});
    EXPECT_EQ(StreamDraft(drafted_, key_).documents_read(), 0U);
  }
}

TEST_F(StreamFile, DraftsGoOnBehindTheirSoundFront) {
  const std::string whole = written(key_), draft = content(drafted_);
  for (std::size_t kept = 0; kept <= draft.size(); ++kept) {
    put(drafted_, draft.substr(0, kept) + std::string(kept % 3, '\x01'));
    StreamDraft resumed(drafted_, key_);
    const bool has_first = resumed.documents_read() > 0;
    if (resumed.file() == 0 && !has_first) {
      resumed.add({.file = 0,
                   .read = 3,
                   .text_ids = 2,
                   .text_bytes = 9,
                   .ids = {5, 3, 3},
                   .lengths = {2, 1}});
    }
    if (resumed.file() == 0) {
      EXPECT_EQ(resumed.documents_read(), 3U);
      resumed.add(
          {.file = 1, .read = 1, .text_ids = 2, .text_bytes = 4, .ids = {6, 7, 3}, .lengths = {3}});
    }
    write_stream(resumed, key_, 2, file_);
    ASSERT_EQ(content(file_), whole) << kept;
  }
}

TEST_F(StreamFile, DraftsOfAnotherKeyOrWithATurnedBitAreNotTrusted) {
  written(key_);
  const std::string draft = content(drafted_);
  EXPECT_EQ(StreamDraft(drafted_, key_).documents_read(), 1U);
  EXPECT_EQ(StreamDraft(drafted_, {.hash = 6, .target_vocabulary = 8}).documents_read(), 0U);
  for (std::size_t at = 0; at < draft.size(); ++at) {
    std::string damaged = draft;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    put(drafted_, damaged);
    EXPECT_LT(StreamDraft(drafted_, key_).ids(), 6U) << at;
  }
}

}  // namespace
}  // namespace ballast
