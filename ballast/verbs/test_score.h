#pragma once

#include "ballast/recipe/assemble.h"
#include "ballast/store/run_directory.h"

namespace ballast {

/// Scores the best model of a training that is over on the recipe's data.test: loss and perplexity,
/// and for translation BLEU (13a) of every pair of files, by the recipe's decode options. Prints
/// the result and keeps it in the run: `test.json`, and the translations of the n-th pair in
/// `test.<n>.hypothesis`. The model takes that step's values. Throws DataError for text that cannot
/// be scored.
void score_test(const Recipe& recipe, const PreparedData& data, Transformer& model,
                RunDirectory& directory);

/// Whether the result that lies in the run is the one of its best step.
bool is_test_scored(const RunDirectory& directory);

}  // namespace ballast
