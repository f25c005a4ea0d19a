#include "ballast/decode/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ballast/data/text.h"

namespace ballast {
namespace {

/// Pieces of common characters; others are spelled in bytes.
const Tokenizer& tokenizer() {
  static const Tokenizer learned = [] {
    const std::vector<std::string> sentences(20, "the cat sat on the mat, the end");
    LearnedPieces<Subwords::bpe> options;
    options.vocabulary_size = 256 + 40;
    options.byte_fallback = true;
    options.remove_extra_spaces = false;
    return Tokenizer::train(sentences, options);
  }();
  return learned;
}

struct Streamed {
  std::vector<std::string> parts;
  std::string all;
  bool stopped = false;
};

/// The text behind a prompt, token by token.
Streamed streamed(const std::string& prompt, const std::string& text,
                  const std::vector<std::string>& stops = {}) {
  const auto before = tokenizer().encode(prompt), whole = tokenizer().encode(prompt + text);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), whole.begin()));
  TextStream stream(tokenizer(), before, stops);
  Streamed found;
  const auto take = [&](const std::string& part) {
    EXPECT_TRUE(is_valid_utf8(part)) << part;
    found.parts.push_back(part);
    found.all += part;
  };
  for (size_t i = before.size(); i < whole.size(); ++i) take(stream.add(whole[i]));
  take(stream.finish());
  found.stopped = stream.is_stopped();
  EXPECT_EQ(stream.text(), found.all);
  return found;
}

TEST(TextStream, GivesTheTextBehindThePromptWithItsSpaces) {
  EXPECT_EQ(streamed("the cat", " sat on the mat").all, " sat on the mat");
  EXPECT_EQ(streamed("", "the mat").all, "the mat");
}

TEST(TextStream, NeverGivesHalfACharacter) {
  for (const std::string text : {" \u00fc\u00fc", " \u4e2d\u6587", " \U0001F600 \U0001F601 cat"}) {
    const Streamed found = streamed("the cat", text);
    EXPECT_EQ(found.all, text);
    EXPECT_EQ(found.all.find("\uFFFD"), std::string::npos);
  }
}

TEST(TextStream, GivesAWholeCharacterAtOnceAndAsSoonAsItIsWhole) {
  const auto ids = tokenizer().encode("\U0001F600");  // a space's piece and four bytes
  TextStream stream(tokenizer(), {}, {});
  std::string all;
  for (size_t i = 0; i + 1 < ids.size(); ++i) all += stream.add(ids[i]);
  EXPECT_EQ(all.find_first_not_of(' '), std::string::npos);
  EXPECT_TRUE(stream.add(ids.back()).ends_with("\U0001F600"));
}

TEST(TextStream, BytesThatAreNoCharacterBecomeReplacementsAndKeepNothingBackForever) {
  int64_t byte = 0;  // the one for 0xE2, which begins a character of three
  while (tokenizer().piece(byte).text != "<0xE2>") ++byte;
  TextStream stream(tokenizer(), {}, {});
  std::string given;
  for (int64_t i = 0; i < 4; ++i) given += stream.add(byte);
  EXPECT_FALSE(given.empty());
  given += stream.finish();
  EXPECT_TRUE(is_valid_utf8(given));
  EXPECT_NE(given.find("\uFFFD"), std::string::npos);
}

TEST(TextStream, StopsBeforeAStopTextAndGivesNothingOfIt) {
  const Streamed found = streamed("the", " cat sat on the mat, the end", {" on th", "xyz"});
  EXPECT_EQ(found.all, " cat sat");
  EXPECT_TRUE(found.stopped);
  const Streamed first = streamed("the", " cat sat on the mat", {"mat", "sat", "the mat"});
  EXPECT_EQ(first.all, " cat ");
}

TEST(TextStream, WhatOnlyLookedLikeAStopTextComesLater) {
  const Streamed found = streamed("the", " cat sat on the mat", {"sat on a", "the mate", "mat."});
  EXPECT_EQ(found.all, " cat sat on the mat");
  EXPECT_FALSE(found.stopped);
  std::string given;
  for (const std::string& part : found.parts) {
    given += part;
    EXPECT_FALSE(given.ends_with("sat on"));  // kept back while it may go on
    EXPECT_FALSE(given.size() < found.all.size() && given.ends_with("the"));
  }
}

TEST(TextStream, AStopTextInThePromptStopsNothing) {
  EXPECT_EQ(streamed("the cat", " sat", {"cat"}).all, " sat");
}

TEST(TextStream, TheEndPieceIsTheEndOfALine) {
  TextStream stream(tokenizer(), {}, {});
  std::string all;
  for (const int64_t id : tokenizer().encode("the cat")) all += stream.add(id);
  all += stream.add(tokenizer().end_id());
  for (const int64_t id : tokenizer().encode("the mat")) all += stream.add(id);
  EXPECT_EQ(all + stream.finish(), "the cat\nthe mat");
}

}  // namespace
}  // namespace ballast
