#include "ballast/decode/translate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "ballast/base/error.h"
#include "ballast/cli/machine.h"
#include "ballast/cli/recipe_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/data/text.h"
#include "ballast/recipe/open_run.h"
#include "ballast/store/file.h"

namespace ballast {
namespace {

struct Flags {
  std::filesystem::path run, input = "-", output = "-";
  RecipeFlags set;
  ModelSelection model;
  Machine machine;
  int64_t n_best = 1;
};

std::vector<std::vector<int64_t>> encoded(const OpenedRun& run,
                                          const std::vector<std::string>& lines) {
  std::vector<std::vector<int64_t>> sources;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<int64_t> ids = run.tokenizer->encode(lines[i]);
    ids.push_back(run.tokenizer->end_id());
    const auto limit = static_cast<size_t>(run.recipe.data.length.max_length);
    if (ids.size() > limit) {
      fmt::print(stderr, "line {}: {} tokens, cut to the limit of {} (data.length.max_length)\n",
                 i + 1, ids.size(), limit);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(limit) - 1, ids.end() - 1);
    }
    sources.push_back(std::move(ids));
  }
  return sources;
}

/// One line a source; with n-best, Moses' "number ||| text ||| score" lines.
std::string text_of(const OpenedRun& run, const std::vector<Hypotheses>& found, int64_t n_best) {
  std::string text;
  for (size_t i = 0; i < found.size(); ++i) {
    if (n_best == 1) {
      text += found[i].empty() ? "" : run.tokenizer->decode(found[i].front().tokens);
      text += '\n';
      continue;
    }
    for (size_t k = 0; k < std::min(found[i].size(), static_cast<size_t>(n_best)); ++k) {
      text += fmt::format("{} ||| {} ||| {:.6f}\n", i, run.tokenizer->decode(found[i][k].tokens),
                          found[i][k].score);
    }
  }
  return text;
}

void translate_lines(const Flags& flags) {
  const torch::Device device = flags.machine.prepare();
  OpenedRun run = open_run(flags.run, flags.set.overrides, flags.model);
  if (run.recipe.model.kind != ModelKind::seq2seq) {
    throw RecipeError("translate needs a seq2seq model; this run is a language model");
  }
  if (flags.n_best > run.recipe.decode.beam) {
    throw RecipeError(fmt::format("--n-best {} exceeds decode.beam = {}; add --set decode.beam={}",
                                  flags.n_best, run.recipe.decode.beam, flags.n_best));
  }
  flags.machine.admit("decode.precision", run.recipe.decode.precision, device);
  run.model->to(device);
  const auto sources = encoded(run, read_lines(flags.input));
  const bool shown = isatty(STDERR_FILENO);
  const auto found = translate(*run.model, sources, run.recipe.decode, [&](int64_t done) {
    if (shown) fmt::print(stderr, "\r{}/{} lines", done, sources.size());
  });
  if (shown) fmt::print(stderr, "\n");
  const std::string text = text_of(run, found, flags.n_best);
  if (flags.output == "-") {
    fmt::print("{}", text);
  } else {
    write_file(flags.output, text);
  }
}

}  // namespace

void add_translate(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("translate", "Translate lines with a trained run");
  verb->add_option("--run", flags->run, "Directory of the run")->required();
  verb->add_option("--input", flags->input, "Text to translate (-: standard input)")
      ->capture_default_str();
  verb->add_option("--output", flags->output, "Where to write (-: standard output)")
      ->capture_default_str();
  verb->add_option("--n-best", flags->n_best, "Hypotheses a line, as \"number ||| text ||| score\"")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--model", flags->model.which, "best, last, a step, or a .safetensors file")
      ->capture_default_str();
  flags->set.add_overrides_to(*verb);
  flags->machine.add_to(*verb);
  verb->footer("Example: ballast translate --run runs/first --set decode.beam=8 < in > out");
  verb->callback([flags] { translate_lines(*flags); });
}

}  // namespace ballast
