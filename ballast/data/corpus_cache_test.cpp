#include "ballast/data/corpus_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "ballast/base/error.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

class CorpusCache : public ::testing::Test {
 protected:
  CorpusCache() { fs::create_directories(folder_); }
  ~CorpusCache() override { fs::remove_all(folder_); }

  std::string saved() const {
    save_corpus(corpus_, key_, file_);
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  bool loads(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    return load_corpus(key_, file_).has_value();
  }

  const EncodedCorpus corpus_{TokenLists({4, 3, 5, 5, 3}, {2, 5}),
                              TokenLists({2, 4, 3, 2, 9, 3}, {3, 6}), 7, 8, 9};
  const CorpusKey key_{.hash = 0x123456789abcdef, .source_vocabulary = 6, .target_vocabulary = 10};
  const fs::path folder_ =
      fs::temp_directory_path() / ("ballast_cache_test_" + std::to_string(::getpid()));
  const fs::path file_ = folder_ / "corpus.bin";
};

TEST_F(CorpusCache, GivesBackWhatItKept) {
  saved();
  EXPECT_EQ(load_corpus(key_, file_), corpus_);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(CorpusCache, GivesNothingForAnotherKey) {
  saved();
  EXPECT_FALSE(load_corpus({.hash = 1, .source_vocabulary = 6, .target_vocabulary = 10}, file_));
  EXPECT_FALSE(
      load_corpus({.hash = key_.hash, .source_vocabulary = 6, .target_vocabulary = 11}, file_));
}

TEST_F(CorpusCache, GivesNothingForAMissingFileOrAFolder) {
  EXPECT_FALSE(load_corpus(key_, folder_ / "missing"));
  EXPECT_FALSE(load_corpus(key_, folder_));
}

TEST_F(CorpusCache, GivesNothingForAFileCutAnywhereOrWithMoreBehindIt) {
  const std::string bytes = saved();
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_FALSE(loads(bytes.substr(0, kept))) << kept;
  }
  EXPECT_FALSE(loads(bytes + "x"));
  EXPECT_TRUE(loads(bytes));
}

TEST_F(CorpusCache, GivesNothingForAnyDamagedByte) {
  const std::string bytes = saved();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    EXPECT_FALSE(loads(damaged)) << at;
  }
}

TEST_F(CorpusCache, GivesNothingForIdsBeyondTheVocabulary) {
  for (const CorpusKey& key :
       {CorpusKey{.hash = 5, .source_vocabulary = 6, .target_vocabulary = 9},
        CorpusKey{.hash = 5, .source_vocabulary = 5, .target_vocabulary = 10}}) {
    save_corpus(corpus_, key, file_);
    EXPECT_FALSE(load_corpus(key, file_));
  }
}

TEST_F(CorpusCache, GivesNothingForSequencesThatNoEncoderMakes) {
  for (const EncodedCorpus& bad :
       {EncodedCorpus{TokenLists({4, 3}, {2}), TokenLists({2, 4, 3, 2, 3}, {3, 5})},
        EncodedCorpus{{}, TokenLists({2, 3, 2}, {2, 3})},
        EncodedCorpus{TokenLists({4}, {0, 1}), TokenLists({2, 3, 2, 3}, {2, 4})}}) {
    save_corpus(bad, key_, file_);
    EXPECT_FALSE(load_corpus(key_, file_));
  }
}

TEST_F(CorpusCache, RefusesAFolderThatCannotBeWritten) {
  EXPECT_THROW(save_corpus(corpus_, key_, folder_ / "missing" / "corpus.bin"), StoreError);
  EXPECT_THROW(save_corpus(corpus_, key_, "/dev/full/corpus.bin"), StoreError);
}

TEST(CorpusKey, ChangesWithTextTokenizerAndLimit) {
  const std::vector<std::string> text{"a b c d e f", "a b a b c d", "f e f e d c"};
  const auto coarse = Tokenizer::train(text, Bpe{.vocabulary_size = 12});
  const auto fine = Tokenizer::train(text, Characters{});
  const ParallelText pairs{.source = {"a", "b"}, .target = {"c", "d"}};
  const ParallelText moved{.source = {"a", "b", "c"}, .target = {"d"}};
  const auto key = key_of_pairs(pairs, coarse, {}).hash;
  EXPECT_EQ(key_of_pairs(pairs, coarse, {}).hash, key);
  EXPECT_NE(key_of_pairs(moved, coarse, {}).hash, key);
  EXPECT_NE(key_of_pairs(pairs, fine, {}).hash, key);
  EXPECT_NE(key_of_pairs(pairs, {coarse, fine}, {}).hash, key);
  EXPECT_NE(key_of_pairs(pairs, {coarse, fine}, {}).hash,
            key_of_pairs(pairs, {fine, coarse}, {}).hash);
  EXPECT_NE(key_of_pairs(pairs, coarse, {.max_length = 100}).hash, key);
}

}  // namespace
}  // namespace ballast
