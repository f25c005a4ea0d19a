#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "ballast/base/error.h"
#include "ballast/decode/contradictions.h"
#include "ballast/decode/ensemble.h"
#include "ballast/decode/translation_stream.h"
#include "ballast/recipe/open_run.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/translation_lines.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

namespace fs = std::filesystem;

/// A model that is asked for.
struct Voter {
  fs::path run;
  ModelSelection model;
};

std::vector<Voter> voters_of(const TranslateFlags& flags) {
  const size_t runs = flags.runs.size(), models = flags.models.size();
  if (runs > 1 && models > 1 && runs != models) {
    throw RecipeError(fmt::format(
        "{} --run and {} --model; give one --model for all runs, or one for each, in their order",
        runs, models));
  }
  std::vector<Voter> voters;
  for (size_t i = 0; i < std::max(runs, models); ++i) {
    voters.push_back({flags.runs[runs == 1 ? 0 : i], {flags.models[models == 1 ? 0 : i]}});
  }
  return voters;
}

TranslationForm form_of(const TranslateFlags& flags) {
  const TranslationForm form{
      .format = flags.format.value_or(flags.n_best > 1 ? TranslationFormat::moses
                                                       : TranslationFormat::text),
      .n_best = flags.n_best,
      .scores = flags.scores};
  if (form.format == TranslationFormat::text && form.n_best > 1) {
    throw RecipeError(fmt::format(
        "--n-best {} with --format text: lines would not say whose they are; use moses or json",
        form.n_best));
  }
  return form;
}

/// Everything that the recipe of the first run says of decoding, checked without a model.
Recipe checked_recipe(const TranslateFlags& flags, const std::vector<Voter>& voters) {
  std::vector<Recipe> recipes;
  for (const Voter& voter : voters) {
    const RunDirectory directory = RunDirectory::open(voter.run);
    recipes.push_back(stored_recipe(directory, flags.overrides));
    if (!recipes.back().model.shape().has_source) {
      throw RecipeError(
          fmt::format("{}: translate needs a seq2seq model; this run is a language "
                      "model",
                      voter.run.string()));
    }
    selected_file(directory, voter.model);
  }
  std::vector<std::string> problems;
  const DecodeOptions& decode = recipes.front().decode;
  for (const Contradiction& each : contradictions(decode)) problems.push_back(each.text);
  if (flags.n_best > decode.width()) {
    const bool samples = std::holds_alternative<RandomSampling>(decode.search);
    const char* option = samples ? "decode.search.samples" : "decode.beam";
    problems.push_back(fmt::format("--n-best {} exceeds {} = {}; add --set {}={}", flags.n_best,
                                   option, decode.width(), option, flags.n_best));
  }
  if (!problems.empty()) throw RecipeError(fmt::format("{}", fmt::join(problems, "\n")));
  return recipes.front();
}

/// Finds out what is wrong with the input before the output is emptied. What is no regular file can
/// be read once only.
void check_files(const TranslateFlags& flags) {
  if (flags.input == "-") return;
  const fs::file_status input = fs::status(flags.input);
  if (!fs::exists(input) || fs::is_regular_file(input) || fs::is_directory(input)) {
    const LineReader opened(flags.input);
  }
  if (fs::is_regular_file(input) && flags.output != "-" && fs::exists(flags.output) &&
      fs::equivalent(flags.input, flags.output)) {
    throw RecipeError(
        fmt::format("--input and --output are the same file, {}; it would be emptied "
                    "before it is read",
                    flags.input.string()));
  }
}

const Tokenizer& source_side(const OpenedRun& run) { return run.tokenizers.source; }
const Tokenizer& target_side(const OpenedRun& run) { return run.tokenizers.target; }

/// What differs between two vocabularies; nothing where none does.
std::optional<std::string> difference(const Tokenizer& a, const Tokenizer& b) {
  if (a.serialized() == b.serialized()) return std::nullopt;
  if (a.size() != b.size()) return fmt::format("{} and {} pieces", a.size(), b.size());
  for (int64_t id = 0; id < a.size(); ++id) {
    if (a.piece(id).text != b.piece(id).text) {
      return fmt::format("piece {} is \"{}\" and \"{}\"", id, a.piece(id).text, b.piece(id).text);
    }
  }
  return "the same pieces, but text is cut into them differently";
}

std::vector<OpenedRun> opened(const TranslateFlags& flags, const std::vector<Voter>& voters,
                              torch::Device device) {
  std::vector<OpenedRun> runs;
  for (const Voter& voter : voters) {
    runs.push_back(open_run(voter.run, flags.overrides, voter.model));
    runs.back().model->to(device);
    for (const auto side : {source_side, target_side}) {
      const auto found = difference(side(runs.front()), side(runs.back()));
      if (!found) continue;
      throw RecipeError(
          fmt::format("{} and {} have different vocabularies ({}); only models of one "
                      "vocabulary can vote",
                      voters.front().run.string(), voter.run.string(), *found));
    }
  }
  return runs;
}

SourceLimit limit_of(const Recipe& recipe, std::span<const Transformer* const> models) {
  const int64_t positions = longest_sequence(models);
  const int64_t asked = recipe.data.length.max_length;
  if (positions < asked) return {positions, "positions of the model"};
  return {asked, "data.length.max_length"};
}

void run_translate(const TranslateFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  const std::vector<Voter> voters = voters_of(flags);
  const TranslationForm form = form_of(flags);
  const Recipe recipe = checked_recipe(flags, voters);
  admit(flags.machine, "decode.precision", recipe.decode.precision, device);
  check_files(flags);
  OutputStream output(flags.output);
  const std::vector<OpenedRun> runs = opened(flags, voters, device);
  std::vector<Transformer*> models;
  for (const OpenedRun& run : runs) models.push_back(run.model.get());
  const std::vector<const Transformer*> asked(models.begin(), models.end());
  TranslationNotes notes(flags.output != "-" || isatty(STDOUT_FILENO) == 0);
  SourceLines lines(flags.input, source_side(runs.front()), limit_of(recipe, asked), notes);
  const Tokenizer& target = target_side(runs.front());
  translate_stream(
      models, {.next = [&] { return lines.next(); }, .ready = [&] { return lines.ready(); }},
      [&](int64_t number, const Hypotheses& found) {
        output.write(written(form, target, number, lines.take_text(), found));
        notes.count(number + 1);
      },
      recipe.decode, special_ids(target));
  output.close();
}

}  // namespace

void translate(const TranslateFlags& flags) {
  at_boundary(lower_for_decoding, [&] { run_translate(flags); });
}

}  // namespace ballast::verbs
