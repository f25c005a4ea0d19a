#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/base/suggest.h"
#include "ballast/cli/standard_streams.h"
#include "ballast/cli/verbs.h"

namespace {

constexpr int internal_error = 1, recipe_error = 2, data_error = 3, divergence_error = 4,
              stopped = 5;

constexpr const char* about =
    "Ballast trains deep Transformers that stay upright.\n\n"
    "  ballast train recipes/quickstart.toml --run runs/first    train, or go on training\n"
    "  ballast translate --run runs/first < source > target      translate lines\n"
    "  ballast generate --run runs/lm \"Once upon a time\"         continue a text\n"
    "  ballast score --reference reference.txt output.txt        BLEU, chrF, TER\n\n"
    "Exit codes: 0 ok, 1 internal or out of memory, 2 recipe or usage, 3 data or files,\n"
    "4 diverged, 5 stopped as asked before any training, or a doctor who expects divergence.";

int report(const std::exception& error, int code) {
  fmt::print(stderr, "ballast: {}\n", error.what());
  return code;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

const CLI::App& verb_named(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> verbs = verbs_of(app);
  if (std::find(verbs.begin(), verbs.end(), name) == verbs.end()) {
    throw ballast::RecipeError(
        fmt::format("\"{}\" is not a verb{}", name, ballast::did_you_mean(name, verbs)));
  }
  return *app.get_subcommand(name);
}

std::string help_of(const CLI::App& shown, const std::string& before) {
  return shown.get_formatter()->make_help(&shown, before, CLI::AppFormatMode::Normal);
}

/// CLI11 would only say that a verb is missing.
void check_first_word(const CLI::App& app, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || word == "-h" || word == "--help" || word == "--version") return;
  if (word.starts_with('-')) {
    throw ballast::RecipeError(
        fmt::format("\"{}\" is not a flag; a verb comes first, see ballast --help", word));
  }
  verb_named(app, word);
}

int run(CLI::App& app, int argc, char** argv, std::error_code& output_failure) {
  try {
    check_first_word(app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "ballast: {}; see ballast help {}\n", error.what(), argc > 1 ? argv[1] : "");
    return recipe_error;
  } catch (const ballast::RecipeError& error) {
    return report(error, recipe_error);
  } catch (const ballast::DivergenceError& error) {
    return report(error, divergence_error);
  } catch (const ballast::Stopped& error) {
    return report(error, stopped);
  } catch (const ballast::ResourceError& error) {
    return report(error, internal_error);
  } catch (const ballast::Error& error) {
    return report(error, data_error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ballast: out of memory\n");
    return internal_error;
  } catch (const std::system_error& error) {
    if (!std::ferror(stdout)) return report(error, internal_error);
    output_failure = error.code();  // {fmt}'s, told once, when the output is handed on
    return 0;
  } catch (const std::exception& error) {
    return report(error, internal_error);
  }
}

void add_help(CLI::App& app) {
  auto* help = app.add_subcommand("help", "What a verb does and which flags it takes");
  auto verb = std::make_shared<std::string>();
  help->add_option("VERB", *verb, "One of the verbs");
  help->callback([&app, verb] {
    fmt::print("{}", verb->empty() ? help_of(app, "")
                                   : help_of(verb_named(app, *verb), "ballast " + *verb));
  });
}

}  // namespace

int main(int argc, char** argv) {
  ballast::open_standard_streams();
  CLI::App app{about, "ballast"};
  app.set_version_flag("--version", BALLAST_VERSION);
  app.require_subcommand(1);
  ballast::add_train(app);
  ballast::add_translate(app);
  ballast::add_generate(app);
  ballast::add_score(app);
  ballast::add_evaluate(app);
  ballast::add_init(app);
  ballast::add_average(app);
  ballast::add_fold(app);
  ballast::add_doctor(app);
  ballast::add_methods(app);
  ballast::add_prepare(app);
  ballast::add_check_recipe(app);
  ballast::add_moments(app);
  add_help(app);
  std::error_code output_failure;
  const int code = run(app, argc, argv, output_failure);
  return ballast::flushed(code, output_failure);
}
