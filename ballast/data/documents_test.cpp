#include "ballast/data/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "ballast/base/error.h"
#include "ballast/testing/refusal.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DocumentsOf : public ::testing::Test {
 protected:
  std::vector<std::string> read(const std::string& name, const std::string& text,
                                const DocumentRules& rules = {}) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return documents(name, rules);
  }

  std::vector<std::string> documents(const std::string& name, const DocumentRules& rules) const {
    DocumentReader reader(folder_ / name, rules);
    std::vector<std::string> found;
    while (auto text = reader.next()) found.push_back(std::move(*text));
    return found;
  }

  std::string refusal_of(const std::string& line) const {
    return ballast::testing::refusal([&] { read("x.jsonl", "{\"text\": \"a\"}\n" + line + "\n"); });
  }

  TemporaryDirectory folder_;
};

TEST_F(DocumentsOf, PlainTextAreLinesUnlessSaidOtherwise) {
  EXPECT_THAT(read("a.txt", "one\r\n\ntwo"), ElementsAre("one", "", "two"));
  EXPECT_THAT(read("a.txt", "one\ntwo", {.keeps_line_ends = true}), ElementsAre("one\n", "two\n"));
  EXPECT_THAT(read("a.txt", ""), IsEmpty());
}

TEST_F(DocumentsOf, EmptyLinesSeparateOnceHoweverManyThereAre) {
  const DocumentRules rules{.kind = Documents::empty_lines};
  EXPECT_THAT(read("a.txt", "\n\none\n  two\n\n \t\n\nthree\n", rules),
              ElementsAre("one\n  two", "three"));
  EXPECT_THAT(read("a.txt", "one", rules), ElementsAre("one"));
  EXPECT_THAT(read("a.txt", "\n \n", rules), IsEmpty());
}

TEST_F(DocumentsOf, AFileIsReadAsItIs) {
  const DocumentRules rules{.kind = Documents::file};
  EXPECT_THAT(read("a.txt", "one\n\n two\n", rules), ElementsAre("one\n\n two\n"));
  EXPECT_THAT(read("a.txt", "one\n\ntwo", rules), ElementsAre("one\n\ntwo"));
  EXPECT_THAT(read("a.txt", "", rules), IsEmpty());
}

TEST_F(DocumentsOf, JsonLinesHoldOneEach) {
  const std::string text =
      "{\"text\": \"a\\nb \\u00e4\\ud83d\\ude00\", \"id\": 1}\n\n{\"id\": [2, {}], \"text\": \"\"}";
  for (const Documents kind : {Documents::lines, Documents::empty_lines, Documents::file}) {
    EXPECT_THAT(read("a.jsonl", text, {.kind = kind}), ElementsAre("a\nb ä😀", ""));
  }
  EXPECT_THAT(read("a.jsonl", "{\"body\": \"x\"}\n", {.json_field = "body"}), ElementsAre("x"));
}

TEST_F(DocumentsOf, PackedJsonLinesAreKnownByTheirName) {
  EXPECT_TRUE(is_json_lines("a/b.jsonl"));
  EXPECT_TRUE(is_json_lines("b.jsonl.gz"));
  EXPECT_TRUE(is_json_lines("b.jsonl.zst"));
  EXPECT_FALSE(is_json_lines("b.json"));
  EXPECT_FALSE(is_json_lines("jsonl"));
  EXPECT_FALSE(is_json_lines("b.jsonl.txt"));
  const gzFile file = gzopen((folder_ / "a.jsonl.gz").c_str(), "wb");
  gzputs(file, "{\"text\": \"packed\"}\n");
  gzclose(file);
  EXPECT_THAT(documents("a.jsonl.gz", {}), ElementsAre("packed"));
}

TEST_F(DocumentsOf, WhatIsNoObjectWithATextIsRefusedWithItsLine) {
  for (const char* line : {"{\"text\": 1}", "{\"texts\": \"a\"}", "[\"text\"]", "\"text\"",
                           "{\"text\": \"a\"", "{\"text\": \"\\ud800\"}", "text"}) {
    EXPECT_THAT(refusal_of(line), HasSubstr("x.jsonl:2: ")) << line;
  }
  EXPECT_THAT(refusal_of(std::string(100'000, '[')), HasSubstr("is no JSON"));
}

TEST_F(DocumentsOf, LinesToLearnFromAreThoseOfTheTexts) {
  std::ofstream(folder_ / "a.jsonl") << "{\"text\": \"a\\n\\nb\"}\n{\"text\": \"c\\n\"}\n";
  std::ofstream(folder_ / "a.txt") << "{\"text\": 1}\n";
  std::vector<std::string> lines;
  const auto add = [&](std::string_view line, const std::string&, int64_t number) {
    lines.push_back(std::string(line) + std::to_string(number));
  };
  for (const char* name : {"a.jsonl", "a.txt"}) for_each_text_line(folder_ / name, "text", add);
  EXPECT_THAT(lines, ElementsAre("a1", "1", "b1", "c2", "{\"text\": 1}1"));
}

}  // namespace
}  // namespace ballast
