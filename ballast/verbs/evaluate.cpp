#include "ballast/train/evaluate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/recipe/open_run.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {

void evaluate(const EvaluateFlags& flags) {
  const torch::Device device = prepare_machine(flags.machine);
  OpenedRun run = open_run(flags.run.run, flags.run.overrides, {flags.run.model});
  admit(flags.machine, "train.precision", run.recipe.train.precision, device);
  run.model->to(device);
  const auto& files = !flags.files.empty()            ? flags.files
                      : !run.recipe.data.test.empty() ? run.recipe.data.test
                                                      : run.recipe.data.valid;
  if (files.empty()) {
    throw RecipeError("nothing to evaluate: name files, or data.test in the recipe");
  }
  const EncodedCorpus corpus = encode_files(run.recipe, {files, {}}, run.tokenizers);
  if (corpus.dropped_long > 0) {
    fmt::print(stderr, "{} sentences longer than {} tokens are left out (data.length)\n",
               corpus.dropped_long, run.recipe.data.length.max_length);
  }
  const TrainOptions& train = run.recipe.train;
  const Evaluation found = ballast::evaluate(*run.model, corpus, {.tokens = train.batch_tokens},
                                             loss_options(*run.model, train));
  if (flags.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"loss", found.loss},
                                              {"nll", found.nll},
                                              {"perplexity", found.perplexity()},
                                              {"tokens", found.tokens}}
                           .dump(2));
  } else {
    fmt::print("loss {:.4f}, nll {:.4f} nats a token, perplexity {:.3f}, {} tokens\n", found.loss,
               found.nll, found.perplexity(), found.tokens);
  }
}

}  // namespace ballast::verbs
