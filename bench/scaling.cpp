// What our training step costs against depth, width, length of the sequences and tokens of a batch,
// one of them changed at a time, and the exponent of each.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ballast/base/philox.h"
#include "ballast/verbs/machine.h"
#include "bench/process.h"
#include "bench/sides.h"
#include "bench/statistics.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

constexpr int64_t vocabulary_size = 1000;  // small, so that the layers are what costs

struct Flags {
  int64_t steps = 5;
  int threads = 0;
  bool json = false;
};

/// One experiment: equal layers in encoder and decoder, random sequences of one length.
struct Setting {
  int64_t depth = 4, width = 256, length = 32, tokens = 2048;
};

struct Axis {
  const char* name;
  int64_t Setting::*member;
  std::vector<int64_t> values;
};

std::vector<Axis> axes() {
  return {{"depth", &Setting::depth, {2, 4, 8, 16}},
          {"width", &Setting::width, {64, 128, 256, 512}},
          {"length", &Setting::length, {16, 32, 64, 128, 256}},
          {"tokens", &Setting::tokens, {512, 1024, 2048, 4096}}};
}

Packed random_sequences(const Setting& setting, uint64_t key) {
  std::vector<std::vector<int64_t>> sequences(setting.tokens / setting.length);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (int64_t k = 0; k < setting.length; ++k) {
      const uint64_t random = mix(mix(key, i), static_cast<uint64_t>(k));
      sequences[i].push_back(4 + static_cast<int64_t>(random % (vocabulary_size - 4)));
    }
  }
  return pack(sequences);
}

double median_seconds(const Setting& setting, int64_t steps) {
  Recipe recipe;
  recipe.model = {.d_model = setting.width,
                  .d_ff = 4 * setting.width,
                  .heads = 4,
                  .encoder_layers = setting.depth,
                  .decoder_layers = setting.depth,
                  .residual = PostNorm{}};
  recipe.optimizer = Adam{.lr = 1e-4};
  OurSide side(recipe, vocabulary_size);
  const Batch batch{random_sequences(setting, 1), random_sequences(setting, 2),
                    random_sequences(setting, 3).tokens, setting.tokens};
  side.step(batch);
  std::vector<double> seconds;
  for (int64_t i = 0; i < steps; ++i) seconds.push_back(side.step(batch).total());
  return median(seconds);
}

nlohmann::ordered_json measured(const Axis& axis, int64_t steps) {
  std::vector<double> values, seconds;
  for (const int64_t value : axis.values) {
    Setting setting;
    setting.*axis.member = value;
    values.push_back(static_cast<double>(value));
    seconds.push_back(median_seconds(setting, steps));
  }
  return {{"axis", axis.name},
          {"values", axis.values},
          {"seconds", seconds},
          {"exponent", fitted_exponent(values, seconds)}};
}

void print_table(const nlohmann::ordered_json& axis) {
  fmt::print("{:<8}{:>10}\n", axis["axis"].get<std::string>(), "s/step");
  for (std::size_t i = 0; i < axis["values"].size(); ++i) {
    fmt::print("{:<8}{:>10.4f}\n", axis["values"][i].get<int64_t>(),
               axis["seconds"][i].get<double>());
  }
  fmt::print("exponent {:.2f}\n\n", axis["exponent"].get<double>());
}

void run(const Flags& flags) {
  set_up_machine({.threads = flags.threads, .device = "cpu"});
  nlohmann::ordered_json found{{"processor", processor_name()},
                               {"threads", at::get_num_threads()},
                               {"axes", nlohmann::ordered_json::array()}};
  for (const Axis& axis : axes()) {
    found["axes"].push_back(measured(axis, flags.steps));
    if (!flags.json) print_table(found["axes"].back());
  }
  if (flags.json) fmt::print("{}\n", found.dump(2));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Seconds of our training step; unless it is the one that changes, depth is 4 + 4 layers, "
      "width "
      "256, length 32 and a batch 2048 tokens on each side"};
  Flags flags;
  app.add_option("--steps", flags.steps, "Steps to take the median of")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", flags.json, "Print one JSON object");
  CLI11_PARSE(app, argc, argv);
  return guarded("scaling", [&] { run(flags); });
}
