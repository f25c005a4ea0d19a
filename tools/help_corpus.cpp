#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/corpus_writer.h"
#include "tools/parallel_corpus.h"

namespace {

constexpr int kUsageError = 2;
constexpr int kDataError = 3;

struct Arguments {
  ballast::HelpCorpusOptions pages;
  std::vector<std::string> languages;
  std::filesystem::path out;
  std::string origin;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_option("--source", arguments.pages.source,
                 "Unpacked pages of the source language: .../libreoffice/help/en-US/text")
      ->required();
  app.add_option("--target", arguments.pages.target, "The same folder of the target language")
      ->required();
  app.add_option("--languages", arguments.languages, "Endings of the files: source and target")
      ->required()
      ->expected(2)
      ->check(CLI::Validator(
          [](std::string& ending) {
            bool plain = !ending.empty() && ending.find('/') == std::string::npos;
            return plain ? std::string() : "expected an ending such as en, found \"" + ending + '"';
          },
          "LANGUAGE"));
  app.add_option("--out", arguments.out, "Folder to make; must not exist yet")->required();
  app.add_option("--origin", arguments.origin, "Text for origin.txt: packages and licence");
}

void build(const Arguments& arguments) {
  ballast::CorpusFiles files{.folder = arguments.out,
                             .languages = {arguments.languages[0], arguments.languages[1]},
                             .origin = arguments.origin};
  ballast::check_free(files.folder);
  auto built = ballast::build_help_corpus(arguments.pages);
  ballast::write_corpus(built.corpus, files);
  fmt::print("pages {} of {} in both languages\n", built.common_pages, built.source_pages);
  auto counts = built.corpus.counts();
  for (size_t i = 0; i < counts.size(); ++i) {
    fmt::print("{} {} pairs\n", ballast::kPartNames[i], counts[i]);
  }
  if (!arguments.origin.empty()) fmt::print("{}\n", arguments.origin);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Builds a parallel corpus from the pages of LibreOffice's help in two languages.");
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
    fmt::print(stderr, "help_corpus: {}\n", error.what());
    return kDataError;
  }
  return 0;
}
