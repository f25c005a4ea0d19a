#include "ballast/train/evaluate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/recipe/open_run.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/language_evaluation.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

NamedFiles text_of(const EvaluateFlags& flags, const Recipe& recipe) {
  NamedFiles found{"FILES", flags.files};
  if (found.files.empty()) found = {"data.test", recipe.data.test};
  if (found.files.empty()) found = {"data.valid", recipe.data.valid};
  if (found.files.empty()) {
    throw RecipeError("nothing to evaluate: name files, or data.test in the recipe");
  }
  if (recipe.model.shape().has_source && found.files.size() % 2 != 0) {
    throw RecipeError(fmt::format(
        "{}: {} files; a seq2seq model needs pairs: source, target, source, target, ...",
        found.option, found.files.size()));
  }
  return found;
}

/// What goes with a language model only is refused for other models, and files beside items.
void check(const EvaluateFlags& flags, const Recipe& recipe) {
  const char* given = flags.continuations ? "--continuations"
                      : flags.context     ? "--context"
                      : flags.stride      ? "--stride"
                                          : nullptr;
  if (given != nullptr && !continues_text(recipe.model)) {
    throw RecipeError(fmt::format(
        "{}: is for causal language models, and this run's is none; leave it out", given));
  }
  if (flags.continuations && (!flags.files.empty() || flags.stride)) {
    throw RecipeError(fmt::format("--continuations: {} has no meaning beside it; leave one out",
                                  flags.stride ? "--stride" : "FILES"));
  }
}

void evaluate_corpus(const EvaluateFlags& flags, OpenedRun& run) {
  const auto [option, files] = text_of(flags, run.recipe);
  const EncodedCorpus corpus = encode_files(run.recipe, {files, {}}, run.tokenizers);
  refuse_empty(run.recipe, option, {files, {}}, corpus);
  if (corpus.dropped_long > 0) {
    fmt::print(stderr, "{} sentences longer than {} tokens are left out (data.length)\n",
               corpus.dropped_long, run.recipe.data.length.max_length);
  }
  const TrainOptions& train = run.recipe.train;
  const Evaluation found =
      ballast::evaluate(*run.model, corpus, {.tokens = train.batch_tokens}, loss_options(train));
  if (flags.json) {
    nlohmann::ordered_json json{{"loss", found.loss},
                                {"nll", found.nll},
                                {"perplexity", found.perplexity()},
                                {"tokens", found.tokens}};
    if (found.accuracy) json["accuracy"] = *found.accuracy;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("loss {:.4f}, nll {:.4f} nats a token, perplexity {:.3f}, {} tokens\n", found.loss,
               found.nll, found.perplexity(), found.tokens);
    if (found.accuracy) fmt::print("accuracy {:.4f} of hidden tokens\n", *found.accuracy);
  }
}

void run_evaluate(const EvaluateFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  OpenedRun run = open_run(flags.run.run, flags.run.overrides, {flags.run.model});
  admit(flags.machine, "train.precision", run.recipe.train.precision, device);
  check(flags, run.recipe);
  run.model->to(device);
  if (flags.continuations) {
    print_continuations(flags, run);
  } else if (continues_text(run.recipe.model)) {
    print_text_evaluation(flags, text_of(flags, run.recipe), run);
  } else {
    evaluate_corpus(flags, run);
  }
}

}  // namespace

void evaluate(const EvaluateFlags& flags) {
  at_boundary(lower_for_training, [&] { run_evaluate(flags); });
}

}  // namespace ballast::verbs
