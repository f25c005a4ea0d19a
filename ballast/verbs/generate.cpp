#include "ballast/decode/generate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/decode/contradictions.h"
#include "ballast/decode/text_stream.h"
#include "ballast/recipe/open_run.h"
#include "ballast/store/file.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

/// All lines of a file as prompts, or all of it as one.
std::vector<std::string> prompts_in(const std::filesystem::path& file, bool lines) {
  std::vector<std::string> found = read_lines(file);
  if (lines) return found;
  std::string whole;
  for (size_t i = 0; i < found.size(); ++i) whole += (i == 0 ? "" : "\n") + found[i];
  return {whole};
}

std::vector<std::string> prompts_of(const GenerateFlags& flags) {
  const bool has_file = !flags.prompt_file.empty();
  if (!flags.prompts.empty() && (has_file || flags.prompt_lines)) {
    throw RecipeError(
        fmt::format("found a prompt and {}, expected one of them; leave the other out",
                    has_file ? "--prompt-file" : "--prompt-lines"));
  }
  if (!flags.prompts.empty()) return flags.prompts;
  if (has_file) return prompts_in(flags.prompt_file, flags.prompt_lines);
  if (isatty(STDIN_FILENO) == 1) return {""};  // nobody means to type an end of file
  return prompts_in("-", flags.prompt_lines);
}

/// All that can be wrong before a model is read.
Recipe checked_recipe(const GenerateFlags& flags) {
  const RunDirectory directory = RunDirectory::open(flags.run.run);
  Recipe recipe = stored_recipe(directory, flags.run.overrides);
  const ModelOptions& model = recipe.model;
  if (model.layers(Stack::encoder) > 0) {
    throw RecipeError(fmt::format(
        "{}: found a model with an encoder, expected one that continues text (causal_lm){}",
        flags.run.run.string(), model.shape().has_source ? "; use translate for this one" : ""));
  }
  const auto problems = contradictions(recipe.generate);
  if (!problems.empty()) throw RecipeError(problems.front().text);
  selected_file(directory, {flags.run.model});
  return recipe;
}

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::end:
      return "end";
    case Ending::stopped:
      return "stop";
    case Ending::length:
      return "length";
    case Ending::positions:
      break;
  }
  return "positions";
}

/// A stream has the begin piece before its first document, and the end piece before all others.
TextStart start_of(const Recipe& recipe) {
  if (recipe.generate.start != TextStart::trained) return recipe.generate.start;
  return recipe.data.cross_documents ? TextStart::end : TextStart::begin;
}

/// What was asked to be continued.
struct Prompt {
  std::string text;
  std::vector<int64_t> ids;  ///< with the start piece
};

std::vector<Prompt> encoded(const std::vector<std::string>& texts, const Tokenizer& tokenizer,
                            int64_t start) {
  std::vector<Prompt> prompts;
  for (const std::string& text : texts) {
    if (!is_valid_utf8(text)) {
      throw DataError(fmt::format("prompt {} is not UTF-8; convert it first", prompts.size() + 1));
    }
    std::vector<int64_t> ids = tokenizer.encode(text);
    ids.insert(ids.begin(), start);
    prompts.push_back({text, std::move(ids)});
  }
  return prompts;
}

/// Writes the outputs in their order: the first that is not done as it comes, the others when it is
/// their turn.
class Writer {
 public:
  Writer(const GenerateFlags& flags, const std::vector<Prompt>& prompts, const Recipe& recipe,
         const Tokenizer& tokenizer)
      : flags_(flags), prompts_(prompts), options_(recipe.generate), tokenizer_(tokenizer) {
    open();
  }

  bool add(const OutputPlace& place, int64_t token) {
    Open& open = open_of(place);
    put(place, open, open.stream.add(token));
    return !open.stream.is_stopped();
  }

  void finish(const OutputPlace& place, const Generated& generated) {
    Open& open = open_of(place);
    put(place, open, open.stream.finish());
    open.done = generated;
    while (const auto* first = find(next_)) {
      if (!first->done) break;
      close(next_);
    }
  }

 private:
  struct Open {
    TextStream stream;
    std::string waiting = {};
    std::optional<Generated> done = {};
  };

  int64_t number(const OutputPlace& place) const {
    return place.prompt * options_.samples + place.sample;
  }
  const Prompt& prompt_of(int64_t output) const {
    return prompts_[static_cast<size_t>(output / options_.samples)];
  }
  const Open* find(int64_t output) const {
    const auto at = open_.find(output);
    return at == open_.end() ? nullptr : &at->second;
  }

  Open& open_of(const OutputPlace& place) {
    const int64_t output = number(place);
    const auto at = open_.find(output);
    if (at != open_.end()) return at->second;
    const auto ids = std::span(prompt_of(output).ids).subspan(1);
    return open_.emplace(output, Open{TextStream(tokenizer_, ids, options_.stop)}).first->second;
  }

  void put(const OutputPlace& place, Open& open, const std::string& text) {
    if (flags_.json) return;
    if (number(place) != next_) {
      open.waiting += text;
      return;
    }
    output_.write(text);
  }

  /// The output whose turn it is has begun.
  void open() {
    if (flags_.json || next_ >= static_cast<int64_t>(prompts_.size()) * options_.samples) return;
    if (next_ > 0) output_.write("----------\n");
    if (flags_.echo) output_.write(prompt_of(next_).text);
    const auto at = open_.find(next_);
    if (at != open_.end()) output_.write(std::exchange(at->second.waiting, {}));
  }

  void close(int64_t output) {
    output_.write(flags_.json ? line_of(output) : "\n");
    open_.erase(output);
    ++next_;
    open();
  }

  std::string line_of(int64_t output) const {
    const Open& open = open_.at(output);
    const Prompt& prompt = prompt_of(output);
    const nlohmann::ordered_json line{
        {"prompt", output / options_.samples}, {"sample", output % options_.samples},
        {"prompt_text", prompt.text},          {"text", open.stream.text()},
        {"prompt_tokens", prompt.ids.size()},  {"tokens", open.done->tokens.size()},
        {"ending", name_of(open.done->ending)}};
    return line.dump() + '\n';
  }

  const GenerateFlags& flags_;
  const std::vector<Prompt>& prompts_;
  const GenerateOptions& options_;
  const Tokenizer& tokenizer_;
  OutputStream output_{"-"};
  std::map<int64_t, Open> open_;
  int64_t next_ = 0;  // output that is being written
};

/// Positions that are computed have no end, but a model has learned from contexts of one length.
void warn_of_length(const Recipe& recipe, const std::vector<Prompt>& prompts) {
  size_t longest = 0;
  for (const Prompt& prompt : prompts) longest = std::max(longest, prompt.ids.size());
  if (std::cmp_less_equal(longest, recipe.data.context)) return;
  fmt::print(stderr,
             "a prompt of {} tokens is longer than data.context = {}, the most that the model has "
             "learned from; the text may make less sense\n",
             longest, recipe.data.context);
}

void run_generate(const GenerateFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  const Recipe recipe = checked_recipe(flags);
  admit(flags.machine, "generate.precision", recipe.generate.precision, device);
  const std::vector<std::string> texts = prompts_of(flags);
  const OpenedRun run = open_run(flags.run.run, flags.run.overrides, {flags.run.model});
  run.model->to(device);
  const Tokenizer& tokenizer = run.tokenizers.target;
  const TextVocabulary vocabulary = text_vocabulary(tokenizer, start_of(recipe));
  const std::vector<Prompt> prompts = encoded(texts, tokenizer, vocabulary.start);
  warn_of_length(recipe, prompts);
  std::vector<std::vector<int64_t>> ids;
  for (const Prompt& prompt : prompts) ids.push_back(prompt.ids);
  Writer writer(flags, prompts, recipe, tokenizer);
  generate(
      *run.model, ids, recipe.generate, vocabulary,
      [&](const OutputPlace& place, int64_t token) { return writer.add(place, token); },
      [&](const OutputPlace& place, const Generated& done) { writer.finish(place, done); });
}

}  // namespace

void generate(const GenerateFlags& flags) {
  at_boundary(lower_for_generating, [&] { run_generate(flags); });
}

}  // namespace ballast::verbs
