#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "ballast/base/error.h"
#include "tools/corpus_writer.h"
#include "tools/document_corpus.h"

namespace {

constexpr int kUsageError = 2;
constexpr int kDataError = 3;

struct Arguments {
  std::vector<std::string> pages;
  std::filesystem::path out;
  std::string readme;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("pages", arguments.pages, "PACKAGE=FOLDER: unpacked pages of a package")
      ->required()
      ->check(CLI::Validator(
          [](std::string& text) {
            auto at = text.find('=');
            bool whole = at != std::string::npos && at > 0 && at + 1 < text.size();
            return whole ? std::string() : "expected PACKAGE=FOLDER, found \"" + text + '"';
          },
          "PACKAGE=FOLDER"));
  app.add_option("--out", arguments.out, "Folder to make; must not exist yet")->required();
  app.add_option("--readme", arguments.readme, "Text for README.md: packages and licences");
}

struct Count {
  size_t documents = 0, paragraphs = 0, bytes = 0;
};

void build(const Arguments& arguments) {
  ballast::check_free(arguments.out);
  ballast::DocumentCorpus corpus;
  for (const std::string& source : arguments.pages) {
    auto at = source.find('=');
    ballast::add_pages(corpus, source.substr(0, at), source.substr(at + 1));
  }
  auto documents = corpus.documents();
  if (documents.empty()) {
    throw ballast::DataError("no paragraph of prose in any page; expected p, li or dd elements");
  }
  std::array<Count, 3> counts;
  for (const auto& document : documents) {
    Count& count = counts[static_cast<size_t>(document.part)];
    ++count.documents;
    count.paragraphs += document.paragraphs.size();
    for (const auto& paragraph : document.paragraphs) count.bytes += paragraph.size() + 1;
  }
  std::string table = "| part | documents | paragraphs | bytes of text |\n|---|---|---|---|\n";
  for (size_t i = 0; i < counts.size(); ++i) {
    table += fmt::format("| {} | {} | {} | {} |\n", ballast::kPartNames[i], counts[i].documents,
                         counts[i].paragraphs, counts[i].bytes);
  }
  ballast::write_documents(documents, arguments.out, arguments.readme + "\n\n" + table);
  fmt::print("{}", table);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Builds a corpus of documents from the prose of HTML pages.");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  try {
    build(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "prose_corpus: {}\n", error.what());
    return kDataError;
  }
  return 0;
}
