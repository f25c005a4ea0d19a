#pragma once

#include <cstdint>
#include <tuple>

#include "ballast/base/fields.h"
#include "ballast/data/options.h"
#include "ballast/decode/generate_options.h"
#include "ballast/decode/options.h"
#include "ballast/init/init.h"
#include "ballast/model/options.h"
#include "ballast/optim/rules.h"
#include "ballast/optim/schedules.h"
#include "ballast/parameterization/parameterization.h"
#include "ballast/train/options.h"

namespace ballast {

/// Everything that decides what a run computes. Flags only say where and how loudly.
struct Recipe {
  int64_t seed = 1;
  ModelOptions model;
  InitChoice init;
  ParameterizationChoice parameterization;
  DataOptions data;
  TrainOptions train;
  OptimizerChoice optimizer;
  ScheduleChoice schedule;
  DecodeOptions decode;
  GenerateOptions generate;

  static constexpr auto fields() {
    return std::make_tuple(
        field("seed", &Recipe::seed, "of initial values, batches and dropout", at_least_zero),
        field("model", &Recipe::model, "the architecture"),
        field("init", &Recipe::init, "distribution of the initial values of matrices"),
        field("parameterization", &Recipe::parameterization, "where the scale of a weight lives"),
        field("data", &Recipe::data, "text files, and how they become tokens"),
        field("train", &Recipe::train, "how long and in what portions"),
        field("optimizer", &Recipe::optimizer, "how gradients become updates"),
        field("schedule", &Recipe::schedule, "learning rate by step"),
        field("decode", &Recipe::decode, "how translations are searched"),
        field("generate", &Recipe::generate, "how a language model's text is chosen"));
  }
  bool operator==(const Recipe&) const = default;
};

}  // namespace ballast
