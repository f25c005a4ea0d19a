#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/model/transformer.h"
#include "ballast/recipe/recipe.h"
#include "bench/stock_transformer.h"

namespace ballast::bench {

constexpr int64_t pad_id = 0;  ///< of every vocabulary that `Tokenizer` learns

/// What `--model` may say.
std::vector<std::string> model_names();

/// The recipe of a named model on a corpus folder with `train.en`, `train.de`, `test.en` and
/// `test.de`: Adam, 4096 tokens a batch, 8000 pieces, contexts of 1,024 tokens; post-norm with
/// dropout 0.1, or Llama-shaped.
Recipe recipe_of(const std::string& model, const std::filesystem::path& corpus);

/// The same model of stock operations, with the values of `ours`.
std::unique_ptr<StockModel> stock_of(const std::string& model, const Transformer& ours);

}  // namespace ballast::bench
