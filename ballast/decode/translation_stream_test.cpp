#include "ballast/decode/translation_stream.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "ballast/testing/toy.h"

namespace ballast {
namespace {

class TranslationStream : public ::testing::TestWithParam<int> {
 protected:
  TranslationStream() : before_(at::get_num_threads()) { at::set_num_threads(GetParam()); }
  ~TranslationStream() override { at::set_num_threads(before_); }

  /// `count` sources of 1 to 9 tokens, and blank ones.
  static Sources made(int64_t count) {
    Sources sources;
    for (int64_t i = 0; i < count; ++i) {
      sources.emplace_back(i * 7 % 10, 4 + i % 7);
      sources.back().push_back(3);
    }
    return sources;
  }

  /// Streams the sources, with `is_ready` asked before those that need not be waited for.
  void stream(const Sources& sources, const std::function<bool()>& is_ready) {
    Transformer* const models[] = {model_.get()};
    const SourceStream in{.next = [&]() -> std::optional<std::vector<int64_t>> {
                            if (fails_at_ == read_) throw std::runtime_error("input");
                            if (read_ == std::ssize(sources)) return std::nullopt;
                            most_ahead_ = std::max(most_ahead_, ++read_ - told());
                            return sources[read_ - 1];
                          },
                          .ready = is_ready};
    const auto out = [&](int64_t number, const Hypotheses& found) {
      EXPECT_EQ(number, told());
      if (full_at_ == number) throw std::runtime_error("output");
      found_.push_back(found);
    };
    translate_stream(models, in, out, options_);
  }

  int64_t told() const { return std::ssize(found_); }

  void expect_translations_of(const Sources& sources) {
    const auto wanted = translate(*model_, sources, options_);
    ASSERT_LE(found_.size(), wanted.size());
    for (size_t i = 0; i < found_.size(); ++i) {
      ASSERT_EQ(found_[i].size(), wanted[i].size()) << i;
      for (size_t k = 0; k < wanted[i].size(); ++k) {
        EXPECT_EQ(found_[i][k].tokens, wanted[i][k].tokens) << i;
      }
    }
  }

  int before_;
  DecodeOptions options_{.beam = 2, .max_extra = 4, .batch_tokens = 40};
  std::shared_ptr<Transformer> model_ = testing::toy_model(testing::toy_options(PreNorm{}));
  std::vector<Hypotheses> found_;
  int64_t read_ = 0, most_ahead_ = 0, fails_at_ = -1, full_at_ = -1;
};

TEST_P(TranslationStream, OfABigFileIsInOrderAndReadsNoFurtherAheadThanItsWindows) {
  const Sources sources = made(700);
  stream(sources, [] { return true; });
  EXPECT_EQ(told(), 700);
  expect_translations_of(sources);
  // Ten sources have 55 tokens, twice for the beam; one thread reads when all is told, several may
  // be up to eight windows ahead of a slow batch.
  const int64_t window = stream_window_batches * options_.batch_tokens / 11 + 10;
  EXPECT_LE(most_ahead_, GetParam() == 1 ? window : 8 * window);
  EXPECT_GT(most_ahead_, 20);  // it does read ahead, for batches of similar length
}

TEST_P(TranslationStream, AnswersBeforeItWaits) {
  const Sources sources = made(30);
  int64_t questions = 0;
  stream(sources, [&] {
    ++questions;
    return false;
  });
  EXPECT_EQ(told(), 30);
  EXPECT_EQ(most_ahead_, 1);
  EXPECT_GE(questions, 30);
  expect_translations_of(sources);
}

TEST_P(TranslationStream, OfSlowBurstsIsWhole) {
  const Sources sources = made(200);
  int64_t asked = 0;
  stream(sources, [&] { return ++asked % 11 != 0; });
  EXPECT_EQ(told(), 200);
  expect_translations_of(sources);
}

TEST_P(TranslationStream, OfNothingIsNothing) {
  stream({}, [] { return true; });
  EXPECT_EQ(told(), 0);
}

TEST_P(TranslationStream, WhatCameBeforeAFaultOfTheInputIsTranslated) {
  const Sources sources = made(100);
  fails_at_ = 77;
  EXPECT_THROW(stream(sources, [] { return true; }), std::runtime_error);
  EXPECT_EQ(told(), 77);
  expect_translations_of(sources);
}

TEST_P(TranslationStream, NothingFollowsWhatCouldNotBeWritten) {
  const Sources sources = made(700);
  full_at_ = 20;
  EXPECT_THROW(stream(sources, [] { return true; }), std::runtime_error);
  EXPECT_EQ(told(), 20);
  EXPECT_LT(read_, 700);
}

INSTANTIATE_TEST_SUITE_P(Threads, TranslationStream, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace ballast
