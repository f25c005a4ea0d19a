#include "tools/document_corpus.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "ballast/base/error.h"
#include "tests/corpus/pages.h"
#include "tools/prose.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A document of each part, from an independent SHA-256 (Python's hashlib).
constexpr const char* kTrain = "p/0.html";
constexpr const char* kValid = "p/20.html";
constexpr const char* kTest = "p/191.html";

std::vector<std::string> prose(const TestFolder& folder, const std::string& body) {
  std::vector<std::string> found;
  for (const auto& paragraph : read_prose(folder.page("p.html", body))) {
    std::string text;
    found.push_back(paragraph.toUTF8String(text));
  }
  return found;
}

TEST(PartOf, FollowsTheHashOfTheName) {
  EXPECT_EQ(part_of(kTrain), Part::train);
  EXPECT_EQ(part_of(kValid), Part::valid);
  EXPECT_EQ(part_of(kTest), Part::test);
}

TEST(IsProse, NeedsWordsAnEndAndLetters) {
  auto is = [](const char* text) { return is_prose(icu::UnicodeString::fromUTF8(text)); };
  EXPECT_TRUE(is("The file is opened for reading."));
  EXPECT_TRUE(is("(The file is opened for reading “by everyone and here.”)"));
  EXPECT_FALSE(is("The file is opened."));
  EXPECT_FALSE(is("The file is opened for reading by:"));
  EXPECT_FALSE(is("See 12.1, 12.2, 13.4 to 18.7 and 20.1."));
  EXPECT_FALSE(is("Файл открывается только для чтения здесь."));
  EXPECT_FALSE(is(""));
}

TEST(ReadProse, TakesWhatParagraphsListsAndDefinitionsHoldThemselves) {
  TestFolder folder;
  EXPECT_THAT(
      prose(folder,
            "<nav><p>The way to other pages is here.</p></nav><h1>This is a heading of some "
            "page.</h1>"
            "<p>One <b>two</b> three<br>four <code>five</code> six.<!-- not this --></p>"
            "<ul><li>The outer item comes before its list.<ul><li>The inner item is a paragraph of "
            "its own.</li></ul></li></ul>"
            "<dl><dt>A term is not a paragraph at all.</dt><dd>A definition is as good as a "
            "paragraph.<pre>int main() { return 0 and so on; }.</pre></dd></dl>"
            "<table><tr><td><p>The cells of a table are left out.</p></td></tr></table>"),
      ElementsAre("One two three four five six.", "The outer item comes before its list.",
                  "The inner item is a paragraph of its own.",
                  "A definition is as good as a paragraph."));
}

TEST(ReadProse, ReadsTheEncodingThatAPageNames) {
  TestFolder folder;
  auto file = folder.write("latin.html",
                           "<html><head><meta charset='iso-8859-1'></head><body><p>One can read a "
                           "caf\xe9 in here.</p></body></html>");
  auto found = read_prose(file);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], icu::UnicodeString::fromUTF8("One can read a caf\u00e9 in here."));
}

TEST(ReadProse, SurvivesDeepNesting) {
  TestFolder folder;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<div>";
  EXPECT_THAT(prose(folder, "<p>Below here the page is very deep.</p>" + deep),
              ElementsAre("Below here the page is very deep."));
}

TEST(DocumentCorpus, KeepsAParagraphOnceInTheStrongestPart) {
  DocumentCorpus corpus;
  corpus.add(kTest, {"Everywhere 12.", "Held out.", "Only test."});
  corpus.add(kValid, {"Held out!", "Everywhere 3."});
  corpus.add(kTrain, {"Before.", "everywhere, 7.", "Before."});
  auto documents = corpus.documents();
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].part, Part::test);
  EXPECT_THAT(documents[0].paragraphs, ElementsAre("Only test."));
  EXPECT_THAT(documents[1].paragraphs, ElementsAre("Held out!"));
  EXPECT_THAT(documents[2].paragraphs, ElementsAre("Before.", "everywhere, 7."));
}

TEST(DocumentCorpus, LeavesOutADocumentOfWhichNothingStays) {
  DocumentCorpus corpus;
  corpus.add(kTrain, {"Here and there."});
  corpus.add(kTest, {"Here and there."});
  ASSERT_EQ(corpus.documents().size(), 1U);
  EXPECT_EQ(corpus.documents()[0].name, kTrain);
}

TEST(AddPages, NamesDocumentsByPackageAndPath) {
  TestFolder folder;
  folder.page("x/b/2.html", "<p>The second page has this sentence only.</p>");
  folder.page("x/a/1.html", "<p>The first page has this sentence only.</p>");
  std::filesystem::create_symlink("1.html", folder.path() / "x/a/same.html");
  DocumentCorpus corpus;
  add_pages(corpus, "package", folder.path() / "x");
  auto documents = corpus.documents();
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].name, "package/a/1.html");
  EXPECT_EQ(documents[1].name, "package/b/2.html");
  EXPECT_THROW(add_pages(corpus, "package", folder.path() / "none"), DataError);
}

TEST(WriteDocuments, WritesOneDocumentALine) {
  TestFolder folder;
  auto out = folder.path() / "corpus";
  write_documents({{kTrain, Part::train, {"One \"door\".", "Two\u2019s doors."}},
                   {kTest, Part::test, {"Three doors."}}},
                  out, "about");
  EXPECT_THAT(lines(out / "train.jsonl"),
              ElementsAre(R"({"document":"p/0.html","text":"One \"door\".\nTwo’s doors."})"));
  EXPECT_THAT(lines(out / "test.jsonl"),
              ElementsAre(R"({"document":"p/191.html","text":"Three doors."})"));
  EXPECT_TRUE(lines(out / "valid.jsonl").empty());
  EXPECT_THAT(lines(out / "train.txt"), ElementsAre("One \"door\". Two\u2019s doors."));
  EXPECT_THAT(lines(out / "test.txt"), ElementsAre("Three doors."));
  EXPECT_THAT(lines(out / "README.md"), ElementsAre("about"));
  EXPECT_THROW(write_documents({}, out, ""), DataError);
}

}  // namespace
}  // namespace ballast
