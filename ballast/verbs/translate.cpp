#include "ballast/decode/translate.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/recipe/open_run.h"
#include "ballast/store/file.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

std::vector<std::vector<int64_t>> encoded(const OpenedRun& run,
                                          const std::vector<std::string>& lines) {
  std::vector<std::vector<int64_t>> sources;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<int64_t> ids = run.tokenizers.source.encode(lines[i]);
    ids.push_back(run.tokenizers.source.end_id());
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
      text += found[i].empty() ? "" : run.tokenizers.target.decode(found[i].front().tokens);
      text += '\n';
      continue;
    }
    for (size_t k = 0; k < std::min(found[i].size(), static_cast<size_t>(n_best)); ++k) {
      text += fmt::format("{} ||| {} ||| {:.6f}\n", i,
                          run.tokenizers.target.decode(found[i][k].tokens), found[i][k].score);
    }
  }
  return text;
}

}  // namespace

void translate(const TranslateFlags& flags) {
  const torch::Device device = prepare_machine(flags.machine);
  OpenedRun run = open_run(flags.run.run, flags.run.overrides, {flags.run.model});
  if (run.recipe.model.kind != ModelKind::seq2seq) {
    throw RecipeError("translate needs a seq2seq model; this run is a language model");
  }
  if (flags.n_best > run.recipe.decode.beam) {
    throw RecipeError(fmt::format("--n-best {} exceeds decode.beam = {}; add --set decode.beam={}",
                                  flags.n_best, run.recipe.decode.beam, flags.n_best));
  }
  admit(flags.machine, "decode.precision", run.recipe.decode.precision, device);
  run.model->to(device);
  const auto sources = encoded(run, read_lines(flags.input));
  const bool shown = isatty(STDERR_FILENO);
  const auto show = [&](int64_t done) {
    if (shown) fmt::print(stderr, "\r{}/{} lines", done, sources.size());
  };
  const auto found = ballast::translate(*run.model, sources, run.recipe.decode, show,
                                        special_ids(run.tokenizers.target));
  if (shown) fmt::print(stderr, "\n");
  const std::string text = text_of(run, found, flags.n_best);
  if (flags.output == "-") {
    fmt::print("{}", text);
  } else {
    write_file(flags.output, text);
  }
}

}  // namespace ballast::verbs
