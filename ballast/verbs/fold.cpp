#include "ballast/values/fold.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <limits>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/data/packed_batch.h"
#include "ballast/options/writer.h"
#include "ballast/recipe/open_run.h"
#include "ballast/train/checkpoint.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

/// Sequences of every id in turn, some of each length.
Packed some_rows(int64_t vocabulary_size) {
  std::vector<std::vector<int64_t>> rows;
  int64_t id = 0;
  for (int64_t length = 1; length <= 24; ++length) {
    std::vector<int64_t>& row = rows.emplace_back();
    for (int64_t i = 0; i < length; ++i) row.push_back(++id % vocabulary_size);
  }
  return pack(rows);
}

/// Largest difference of the logits of some rows, over the largest logit.
double largest_difference(const Transformer& model, const Transformer& plain) {
  const torch::NoGradGuard no_grad;
  const Packed target = some_rows(model.target_embedding->weight.size(0));
  const Packed source = model.options().shape().has_source
                            ? some_rows(model.source_embedding->weight.size(0))
                            : Packed{};
  const torch::Tensor before = model.logits(model.forward(source, target));
  const torch::Tensor after = plain.logits(plain.forward(source, target));
  return ((before - after).abs().max() / before.abs().max()).item<double>();
}

RunDirectory new_run(const std::filesystem::path& path) {
  RunDirectory directory = RunDirectory::open_or_create(path);
  if (!directory.steps().empty() || std::filesystem::exists(directory.file(recipe_file))) {
    throw RecipeError(
        fmt::format("{}: there is a run already; choose another directory", path.string()));
  }
  return directory;
}

void run_fold(const FoldFlags& flags) {
  OpenedRun run = open_run(flags.run.run, flags.run.overrides, {flags.run.model});
  run.model->eval();
  const std::shared_ptr<Transformer> plain = fold(*run.model);
  RunDirectory directory = new_run(flags.output);
  const RunDirectory from = RunDirectory::open(flags.run.run);
  for (const std::string& name : vocabulary_files_of(run.recipe)) {
    directory.write_text(name, from.read_text(name));
  }
  Recipe recipe = run.recipe;
  recipe.model = plain->options();
  recipe.parameterization = {};
  directory.write_text(recipe_file, toml_text(recipe));
  constexpr int64_t unknown = 1;  // of a file that does not say how many updates it had
  const int64_t step = run.model->context().step;
  const int64_t saved = step == std::numeric_limits<int64_t>::max() ? unknown : step;
  directory.save_step(saved, named_state(*plain), {}, {{"step", saved}, {"folded", true}});
  fmt::print("{} became {} in {}; largest difference of outputs {:.1e} of the largest\n",
             info_of(run.recipe.model.residual).name, info_of(recipe.model.residual).name,
             flags.output.string(), largest_difference(*run.model, *plain));
}

}  // namespace

void fold(const FoldFlags& flags) {
  at_boundary(lower_for_reading, [&] { run_fold(flags); });
}

}  // namespace ballast::verbs
