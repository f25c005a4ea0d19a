#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/recipe/recipe.h"

namespace ballast::bench {

/// What `--model` may say.
std::vector<std::string> model_names();

/// The recipe of a named model on a corpus folder with `train.en`, `train.de`, `test.en` and
/// `test.de`: post-norm, dropout 0.1, Adam, 4096 tokens a batch, 8000 pieces.
Recipe recipe_of(const std::string& model, const std::filesystem::path& corpus);

}  // namespace ballast::bench
