#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"

namespace ballast {
namespace {

void add_coordinate_check(CLI::App& verb, InitFlags& flags) {
  CLI::Option* check = verb.add_flag(
      "--coordinate-check", flags.coordinate_check,
      "Let models of several sizes make their first updates and show how what their activations "
      "change by depends on the size");
  const auto add_sizes = [&](const char* name, std::vector<int64_t>& sizes, const char* help) {
    verb.add_option(name, sizes, help)
        ->delimiter(',')
        ->needs(check)
        ->check(whole_number(1, 1'000'000))
        ->allow_extra_args(false);
  };
  add_sizes("--widths", flags.widths,
            "Values of model.d_model, heads and d_ff in proportion; absent: 64,128,256");
  add_sizes("--depths", flags.depths,
            "Values of model.decoder_layers, the encoder in proportion, at the recipe's width");
  verb.add_option("--steps", flags.steps, "Updates of each model")
      ->needs(check)
      ->check(whole_number(1, 1000))
      ->capture_default_str();
}

}  // namespace

void add_init(CLI::App& app) {
  auto flags = std::make_shared<InitFlags>();
  CLI::App* verb = app.add_subcommand(
      "init", "Initialise and calibrate a recipe's model and show what one forward pass measures");
  add_recipe(*verb, flags->recipe);
  verb->add_flag("--json", flags->json,
                 "One object: omega by stack, the profile, and every parameter's scaling");
  add_coordinate_check(*verb, *flags);
  add_machine(*verb, flags->machine);
  verb->callback([flags] { load_verbs().init(*flags); });
}

}  // namespace ballast
