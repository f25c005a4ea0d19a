#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "ballast/base/error.h"
#include "ballast/cli/score.h"
#include "ballast/cli/verbs.h"

namespace {

constexpr int internal_error = 1, recipe_error = 2, data_error = 3, divergence_error = 4;

constexpr const char* about =
    "Ballast trains deep Transformers that stay upright.\n\n"
    "  ballast train recipes/quickstart.toml --run runs/first    train, or go on training\n"
    "  ballast translate --run runs/first < source > target      translate lines\n"
    "  ballast score --reference reference.txt output.txt        BLEU, chrF, TER\n\n"
    "Exit codes: 0 ok, 1 internal, 2 recipe or usage, 3 data or files, 4 diverged.";

int report(const std::exception& error, int code) {
  fmt::print(stderr, "ballast: {}\n", error.what());
  return code;
}

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : recipe_error;
  } catch (const ballast::RecipeError& error) {
    return report(error, recipe_error);
  } catch (const ballast::DivergenceError& error) {
    return report(error, divergence_error);
  } catch (const ballast::Error& error) {
    return report(error, data_error);
  } catch (const std::exception& error) {
    return report(error, internal_error);
  }
}

void add_help(CLI::App& app) {
  auto* help = app.add_subcommand("help", "What a verb does and which flags it takes");
  auto verb = std::make_shared<std::string>();
  help->add_option("VERB", *verb, "One of the verbs");
  help->callback([&app, verb] {
    const CLI::App* shown = verb->empty() ? &app : app.get_subcommand(*verb);
    fmt::print("{}", shown->help());
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{about, "ballast"};
  app.set_version_flag("--version", BALLAST_VERSION);
  app.require_subcommand(1);
  ballast::add_train(app);
  ballast::add_translate(app);
  ballast::add_score(app);
  ballast::add_evaluate(app);
  ballast::add_init(app);
  ballast::add_average(app);
  ballast::add_prepare(app);
  ballast::add_check_recipe(app);
  add_help(app);
  return run(app, argc, argv);
}
