#include "ballast/options/document.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

std::string problem(std::string_view text) {
  return text_of(parse_document(text, "r.toml").problems);
}

TEST(Document, AMistakeOfSyntaxIsToldWithItsPlace) {
  EXPECT_EQ(problem("a = 1\nb = admin"),
            "r.toml:2:5: not valid TOML: parsing value: could not determine value type; a word "
            "stands in double quotes, a number is written 8000 or 1e-3");
  EXPECT_EQ(problem("[t\n"),
            "r.toml:1:3: not valid TOML: parsing table header: expected ']', saw '\\n'");
  EXPECT_EQ(problem("a = 1\na = 2"),
            "r.toml:2:5: not valid TOML: parsing key-value pair: cannot redefine existing integer "
            "'a'");
}

TEST(Document, BytesThatAreNotUtf8AreCalledThat) {
  EXPECT_EQ(problem("a = \"\xff\""),
            "r.toml:1:5: found bytes that are not UTF-8, expected text; save the file as UTF-8");
}

TEST(Document, NestingWithoutEndIsRefusedRatherThanFollowed) {
  std::string name = "a";
  for (int part = 0; part < 100000; ++part) name += ".a";
  EXPECT_EQ(problem("b = 1\n" + name + " = 1"), "r.toml:2:1: found a name of more than 250 parts");
  EXPECT_NE(problem("[" + name + "]"), "");
  EXPECT_NE(problem("b = { " + name + " = 1 }"), "");
  EXPECT_NE(problem("b = " + std::string(100000, '[')), "");
}

TEST(Document, EveryTruncationOfATextIsReadOrRefused) {
  const std::string text = "a = [1, 2.5e-3]\n[b.\"c d\"]\ne = { f = '''x''', g = 2020-01-01 }\n";
  ASSERT_EQ(problem(text), "");
  for (size_t length = 0; length < text.size(); ++length) {
    const Document document = parse_document(text.substr(0, length), "r.toml");
    EXPECT_TRUE(document.problems.empty() || document.root.empty()) << length;
  }
}

}  // namespace
}  // namespace ballast
