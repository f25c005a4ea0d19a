#include <gmock/gmock.h>

#include <string>

#include "ballast/base/error.h"
#include "tests/corpus/pages.h"
#include "tools/corpus_writer.h"
#include "tools/help_page.h"
#include "tools/parallel_corpus.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::pair<std::string, std::string>> read(const TestFolder& folder,
                                                      const std::string& body) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Paragraph& paragraph : read_page(folder.page("p.html", body))) {
    std::string text;
    found.emplace_back(paragraph.id, paragraph.text.toUTF8String(text));
  }
  return found;
}

std::string message(const HelpCorpusOptions& options) {
  try {
    build_help_corpus(options);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

// A path of each part, from an independent SHA-256 (Python's hashlib).
constexpr const char* kTrain = "shared/guide/a.html";
constexpr const char* kValid = "sbasic/shared/03/sf_region.html";
constexpr const char* kTest = "sbasic/guide/translation.html";

TEST(PartOfPage, FollowsTheHashOfThePath) {
  EXPECT_EQ(part_of_page(kTrain), Part::train);
  EXPECT_EQ(part_of_page(kValid), Part::valid);
  EXPECT_EQ(part_of_page(kTest), Part::test);
}

TEST(ReadPage, TakesParagraphsAndHeadingsWithStableIds) {
  TestFolder folder;
  EXPECT_THAT(
      read(folder,
           "<h1 id='hd_1'>A &amp; B</h1><p id='par_2'>x<br>y <b>z</b><!-- c --></p>"
           "<p id='N0003'>no</p><div id='par_4'>no</div><p>no</p>"
           "<p id='par_2'>again</p><h2 id='bm_5'>Caf&eacute;</h2>"),
      ElementsAre(Pair("hd_1", "A & B"), Pair("par_2", "x y z"), Pair("bm_5", "Caf\u00e9")));
}

TEST(ReadPage, TakesTheDefaultOfWhatDiffersByOperatingSystem) {
  TestFolder folder;
  EXPECT_THAT(read(folder,
                   "<p id='par_1'>Press <span class='MAC'>Command</span>"
                   "<span id='d'>Ctrl</span>+C</p>"
                   "<span class='UNIX'><p id='par_2'>Unix</p></span>"
                   "<span class='CALC'><p id='par_3'>Calc</p></span>"),
              ElementsAre(Pair("par_1", "Press Ctrl+C"), Pair("par_3", "Calc")));
}

TEST(ReadPage, SurvivesDeepNestingAndUnclosedElements) {
  TestFolder folder;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<div>";
  EXPECT_THAT(read(folder, "<p id='par_1'>first<b><p id='par_2'>second <i>part" + deep),
              ElementsAre(Pair("par_1", "first"), Pair("par_2", "second part")));
}

TEST(ReadPage, NamesTheByteThatIsNoUtf8) {
  TestFolder folder;
  auto file = folder.write("p.html", "<html>\xe4</html>");
  try {
    read_page(file);
    FAIL() << "a Latin-1 page was taken";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("p.html: byte 7 is no UTF-8"));
  }
  EXPECT_THROW(read_page(folder.write("nul.html", std::string("<html>\0</html>", 14))), DataError);
}

TEST(ReadPage, RejectsAPageThatBreaksOff) {
  TestFolder folder;
  EXPECT_THROW(read_page(folder.write("p.html", "<html><p id='par_1'>Half a pa")), DataError);
  EXPECT_THROW(read_page(folder.write("e.html", "")), DataError);
  EXPECT_THROW(read_page(folder.path() / "none.html"), DataError);
}

TEST(HelpCorpus, PairsTheSameIdOnTheSamePage) {
  TestFolder folder;
  folder.page("en/" + std::string(kTrain), paragraph("par_1", "Open the file. Close it again.") +
                                               paragraph("par_2", "Only in English") +
                                               paragraph("par_3", "LibreOffice Calc"));
  folder.page("de/" + std::string(kTrain),
              paragraph("par_3", "LibreOffice Calc") + paragraph("par_9", "Nur auf Deutsch") +
                  paragraph("par_1", "Datei \u00f6ffnen. Wieder schlie\u00dfen."));
  folder.page("en/only.html", paragraph("par_1", "Nobody translated this"));
  auto built = build_help_corpus({folder.path() / "en", folder.path() / "de"});
  EXPECT_EQ(built.source_pages, 2U);
  EXPECT_EQ(built.common_pages, 1U);
  ASSERT_EQ(built.corpus.entries().size(), 2U);
  EXPECT_EQ(built.corpus.entries()[0].source, "Open the file.");
  EXPECT_EQ(built.corpus.entries()[1].target, "Wieder schlie\u00dfen.");
}

TEST(HelpCorpus, PutsASentenceOfSeveralPagesInTheStrongestPart) {
  TestFolder folder;
  for (std::string language : {"en/", "de/"}) {
    std::string own = language == "en/" ? "word" : "Wort";
    std::string shared = paragraph("par_1", "Everywhere 12 a " + own);
    std::string held_out = paragraph("par_2", "Held out a " + own);
    folder.page(language + kTest, shared + held_out + paragraph("par_3", "Only test a " + own));
    folder.page(language + kValid, held_out);
    folder.page(language + kTrain, paragraph("par_8", "everywhere, 7 a " + own));
  }
  auto built = build_help_corpus({folder.path() / "en", folder.path() / "de"});
  EXPECT_THAT(built.corpus.counts(), ElementsAre(1, 1, 1));
  EXPECT_EQ(built.corpus.entries()[0].source, "Everywhere 12 a word");
  EXPECT_EQ(built.corpus.entries()[0].part, Part::train);
  EXPECT_EQ(built.corpus.entries()[1].part, Part::valid);
}

TEST(HelpCorpus, SaysWhichFolderIsMissingOrEmpty) {
  TestFolder folder;
  folder.page("en/a.html", paragraph("par_1", "Open the file"));
  folder.page("other/b.html", paragraph("par_1", "Datei \u00f6ffnen"));
  folder.page("same/a.html", paragraph("par_1", "Open the file"));
  std::filesystem::create_directories(folder.path() / "empty");
  auto en = folder.path() / "en";
  EXPECT_THAT(message({en, folder.path() / "none"}), HasSubstr("none: no such folder"));
  EXPECT_THAT(message({folder.path() / "empty", en}), HasSubstr("empty: no .html page found"));
  EXPECT_THAT(message({en, folder.path() / "other"}), HasSubstr("has the same path in"));
  EXPECT_THAT(message({en, folder.path() / "same"}), HasSubstr("no sentence pair found"));
}

TEST(WriteCorpus, WritesEachPartLineByLine) {
  TestFolder folder;
  ParallelCorpus corpus;
  corpus.add({"One window", "Ein Fenster"}, Part::train);
  corpus.add({"Two windows", "Zwei Fenster"}, Part::test);
  corpus.add({"Three doors", "Drei T\u00fcren"}, Part::train);
  auto out = folder.path() / "deep/corpus";
  write_corpus(corpus, {.folder = out, .languages = {"en", "de"}, .origin = "packages"});
  EXPECT_THAT(lines(out / "train.en"), ElementsAre("One window", "Three doors"));
  EXPECT_THAT(lines(out / "train.de"), ElementsAre("Ein Fenster", "Drei T\u00fcren"));
  EXPECT_THAT(lines(out / "test.de"), ElementsAre("Zwei Fenster"));
  EXPECT_TRUE(lines(out / "valid.en").empty());
  EXPECT_THAT(lines(out / "origin.txt"), ElementsAre("packages"));
}

TEST(WriteCorpus, LeavesAnExistingFolderAlone) {
  TestFolder folder;
  folder.write("corpus/train.en", "mine\n");
  CorpusFiles files{.folder = folder.path() / "corpus", .languages = {"en", "de"}, .origin = ""};
  EXPECT_THROW(write_corpus({}, files), DataError);
  EXPECT_THAT(lines(folder.path() / "corpus/train.en"), ElementsAre("mine"));
}

TEST(WriteCorpus, LeavesNothingBehindWhenItFails) {
  TestFolder folder;
  folder.write("file", "in the way");
  CorpusFiles files{
      .folder = folder.path() / "file/corpus", .languages = {"en", "de"}, .origin = ""};
  EXPECT_THROW(write_corpus({}, files), StoreError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace ballast
