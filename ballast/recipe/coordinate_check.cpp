#include "ballast/recipe/coordinate_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"
#include "ballast/recipe/assemble.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

double in_proportion(int64_t value, int64_t now, int64_t before) {
  return static_cast<double>(value) * static_cast<double>(now) / static_cast<double>(before);
}

Coordinates coordinates_of(const Recipe& recipe, const VocabularySizes& sizes,
                           const std::shared_ptr<const EncodedCorpus>& corpus, int64_t steps,
                           torch::Device device) {
  const PlannedModel made = build_model(recipe, sizes);
  made.model->to(device);
  calibrate_on(recipe, *made.model, corpus);
  const auto stream = std::make_shared<BatchStream>(
      corpus, BatchLimits{.tokens = recipe.train.batch_tokens}, static_cast<uint64_t>(recipe.seed));
  const auto next = [stream, device] { return stream->next().to(device); };
  const Batch probe = next();
  stream->seek({});
  return first_coordinates({.model = made.model,
                            .plan = made.plan,
                            .optimizer = recipe.optimizer,
                            .lr = peak_lr(recipe.optimizer),
                            .clip_norm = recipe.train.clip_norm,
                            .loss = loss_options(recipe.train),
                            .steps = steps,
                            .next = next,
                            .probe = probe});
}

}  // namespace

Recipe with_width(Recipe recipe, int64_t width) {
  ModelOptions& model = recipe.model;
  const double heads = in_proportion(model.heads, width, model.d_model);
  if (heads != std::floor(heads) || heads < 1 || width % std::llround(heads) != 0) {
    throw RecipeError(
        fmt::format("at width {} a model with {} heads at width {} has {:.4g}, expected a whole "
                    "number that divides the width; choose widths that are multiples of {}",
                    width, model.heads, model.d_model, heads, model.d_model / model.heads));
  }
  model.d_ff = std::max<int64_t>(1, std::llround(in_proportion(model.d_ff, width, model.d_model)));
  model.heads = std::llround(heads);
  model.d_model = width;
  return recipe;
}

Recipe with_depth(Recipe recipe, int64_t depth) {
  ModelOptions& model = recipe.model;
  const int64_t now = model.layers(model.shape().target);
  for (int64_t* layers : {&model.encoder_layers, &model.decoder_layers}) {
    *layers = std::max<int64_t>(1, std::llround(in_proportion(*layers, depth, now)));
  }
  return recipe;
}

CoordinateReports coordinate_check(const Recipe& recipe, const VocabularySizes& sizes,
                                   const std::shared_ptr<const EncodedCorpus>& corpus,
                                   const CoordinateCheck& check, torch::Device device) {
  const auto report = [&](const std::vector<int64_t>& scales,
                          const std::function<Recipe(Recipe, int64_t)>& with) {
    CoordinateReport made;
    for (const int64_t scale : scales) {
      made.scales.push_back(static_cast<double>(scale));
      made.models.push_back(
          coordinates_of(with(recipe, scale), sizes, corpus, check.steps, device));
    }
    if (!scales.empty()) made.slopes = coordinate_slopes(made.scales, made.models);
    return made;
  };
  return {report(check.widths, with_width), report(check.depths, with_depth)};
}

}  // namespace ballast
