#include "bench/models.h"

#include <array>

#include "ballast/base/error.h"
#include "ballast/model/presets.h"
#include "bench/stock_llama.h"

namespace ballast::bench {
namespace {

using StockOf = std::unique_ptr<StockModel> (*)(const Transformer& ours);

std::unique_ptr<StockModel> post_norm(const Transformer& ours) {
  return std::make_unique<StockTransformer>(ours, pad_id);
}

std::unique_ptr<StockModel> llama(const Transformer& ours) {
  return std::make_unique<StockLlama>(ours);
}

struct Named {
  const char* name;
  ModelOptions options;
  StockOf stock = post_norm;
};

ModelOptions sized(ModelKind kind, int64_t layers, int64_t d_model, int64_t heads) {
  return {.kind = kind,
          .d_model = d_model,
          .d_ff = 4 * d_model,
          .heads = heads,
          .encoder_layers = layers,
          .decoder_layers = layers,
          .residual = PostNorm{}};
}

ModelOptions llama_shaped(int64_t layers, int64_t d_model, int64_t heads) {
  ModelOptions options;
  adopt(LlamaPreset{}, options);
  options.d_model = d_model;
  options.d_ff = 8 * d_model / 3;
  options.heads = heads;
  options.decoder_layers = layers;
  return options;
}

std::array<Named, 4> models() {
  return {{{"seq2seq-6-512", sized(ModelKind::seq2seq, 6, 512, 8)},
           {"seq2seq-18-128", sized(ModelKind::seq2seq, 18, 128, 4)},
           {"causal-12-768", sized(ModelKind::causal_lm, 12, 768, 12)},
           {"llama-12-768", llama_shaped(12, 768, 12), llama}}};
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Named& each : models()) names.emplace_back(each.name);
  return names;
}

std::unique_ptr<StockModel> stock_of(const std::string& model, const Transformer& ours) {
  for (const Named& each : models()) {
    if (model == each.name) return each.stock(ours);
  }
  throw RecipeError("--model " + model + ": there is no such model; see --help");
}

Recipe recipe_of(const std::string& model, const std::filesystem::path& corpus) {
  const auto file = [&](const char* name) { return (corpus / name).string(); };
  for (const Named& each : models()) {
    if (model != each.name) continue;
    const bool translates = each.options.shape().has_source;
    Recipe recipe;
    recipe.model = each.options;
    recipe.data.train = {file("train.en")};
    if (translates) recipe.data.train.push_back(file("train.de"));
    if (translates) recipe.data.test = {file("test.en"), file("test.de")};
    recipe.data.context = 1024;
    recipe.train.label_smoothing = translates ? 0.1 : 0;
    recipe.optimizer = Adam{.lr = 1e-4, .beta2 = 0.98};
    return recipe;
  }
  throw RecipeError("--model " + model + ": there is no such model; see --help");
}

}  // namespace ballast::bench
