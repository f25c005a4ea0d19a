#include "ballast/train/evaluate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/cli/machine.h"
#include "ballast/cli/recipe_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/recipe/open_run.h"

namespace ballast {
namespace {

struct Flags {
  std::filesystem::path run;
  std::vector<std::string> files;
  RecipeFlags set;
  ModelSelection model;
  Machine machine;
  bool json = false;
};

void evaluate_run(const Flags& flags) {
  const torch::Device device = flags.machine.prepare();
  OpenedRun run = open_run(flags.run, flags.set.overrides, flags.model);
  flags.machine.admit("train.precision", run.recipe.train.precision, device);
  run.model->to(device);
  const auto& files = !flags.files.empty()            ? flags.files
                      : !run.recipe.data.test.empty() ? run.recipe.data.test
                                                      : run.recipe.data.valid;
  if (files.empty()) {
    throw RecipeError("nothing to evaluate: name files, or data.test in the recipe");
  }
  const EncodedCorpus corpus = encode_files(run.recipe, {files, {}}, *run.tokenizer);
  if (corpus.dropped_long > 0) {
    fmt::print(stderr, "{} sentences longer than {} tokens are left out (data.length)\n",
               corpus.dropped_long, run.recipe.data.length.max_length);
  }
  const TrainOptions& train = run.recipe.train;
  const Evaluation found =
      evaluate(*run.model, corpus, {.tokens = train.batch_tokens}, loss_options(*run.model, train));
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

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("evaluate", "Loss and perplexity of a run's model on text");
  verb->add_option("--run", flags->run, "Directory of the run")->required();
  verb->add_option("FILES", flags->files, "Text; absent: the recipe's data.test, else data.valid");
  flags->set.add_overrides_to(*verb);
  verb->add_option("--model", flags->model.which, "best, last, a step, or a .safetensors file")
      ->capture_default_str();
  verb->add_flag("--json", flags->json, "One object");
  flags->machine.add_to(*verb);
  verb->callback([flags] { evaluate_run(*flags); });
}

}  // namespace ballast
