#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ballast/metrics/bleu.h"
#include "ballast/metrics/chrf.h"
#include "ballast/metrics/ter.h"

namespace CLI {
class App;
}

namespace ballast {

struct ScoreFlags {
  std::vector<std::string> systems;  ///< files of hypotheses; `-` is standard input
  std::vector<std::string> references;
  std::vector<std::string> metrics{"bleu"};
  BleuOptions bleu;
  ChrfOptions chrf;
  TerOptions ter;
  std::string tokenizer = "13a";  ///< NAME or NAME:PATH
  bool sentence = false;
  bool confidence = false, paired_bootstrap = false, paired_randomization = false;
  int64_t confidence_samples = 1000, bootstrap_samples = 1000, randomization_samples = 10000;
  std::string seed;  ///< empty: SACREBLEU_SEED from the environment, else 12345
  bool force = false;
  bool json = false;
  int width = 1;
};

/// Declares the flags. The values stand as written: `settle` makes them consistent.
void add_score_flags(CLI::App& command, ScoreFlags& flags);

/// Gives each value its meaning and refuses, as RecipeError, what contradicts itself. Nothing is
/// read yet but the environment.
void settle(ScoreFlags& flags);

}  // namespace ballast
