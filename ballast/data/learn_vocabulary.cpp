#include "ballast/data/learn_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/data/child_process.h"
#include "ballast/data/frames.h"
#include "ballast/data/sentencepiece_library.h"

namespace ballast {
namespace {

/// The sums of the unigram trainer depend on how many threads share them, so the number is fixed.
constexpr const char* training_threads = "4";
constexpr const char* only_fatal_messages = "3";
constexpr const char* longest_training_sentence = "1048576";

using Settings = std::vector<std::pair<std::string, std::string>>;

template <Subwords subwords>
Settings settings_of(const LearnedPieces<subwords>& options) {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  const auto type = subwords == Subwords::character ? "char" : LearnedPieces<subwords>::info.name;
  return {{"model_type", std::string(type)},
          {"vocab_size", fmt::to_string(options.vocabulary_size)},
          {"character_coverage", fmt::to_string(options.character_coverage)},
          {"byte_fallback", word(options.byte_fallback)},
          {"normalization_rule_name", std::string(enum_name(options.normalization))},
          {"remove_extra_whitespaces", word(options.remove_extra_spaces)},
          {"pad_id", "0"},
          {"unk_id", "1"},
          {"bos_id", "2"},
          {"eos_id", "3"},
          {"max_sentence_length", longest_training_sentence},
          {"num_threads", training_threads},
          {"minloglevel", only_fatal_messages}};
}

/// The digits that follow `marker`, empty when it does not occur.
std::string number_after(const std::string& message, const std::string& marker) {
  const auto at = message.find(marker);
  if (at == std::string::npos) return {};
  const auto rest = message.substr(at + marker.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

/// SentencePiece's words without the place in its sources.
std::string told(const std::string& message) {
  const auto place = message.find(".cc(");
  const auto end = place == std::string::npos ? place : message.find(") ", place);
  return end == std::string::npos ? message : message.substr(end + 2);
}

/// The error of a training that failed, from SentencePiece's words about it.
[[noreturn]] void refuse_training(const std::string& message, int64_t size) {
  const auto wanted = fmt::to_string(size);
  if (const auto most = number_after(message, "value <= "); !most.empty()) {
    throw DataError(fmt::format(
        "vocabulary_size is {}, but this text gives at most {} pieces; set it to {} or less",
        wanted, most, most));
  }
  if (const auto least = number_after(message, wanted + " vs "); !least.empty()) {
    throw DataError(fmt::format(
        "vocabulary_size is {}, but the characters of this text and the special pieces are {}; set "
        "it to more than that or lower character_coverage",
        wanted, least));
  }
  throw DataError(fmt::format("a vocabulary of {} pieces could not be learned from this text: {}",
                              wanted, told(message)));
}

std::string out_of_memory() {
  return "there was not enough memory to learn a vocabulary; lower training_sentences of the "
         "tokenizer, or allow more memory";
}

/// What the helper answered; `text` is a model, or what was wrong.
struct Answer {
  bool ok = false, lacked_memory = false;
  std::string text;    ///< empty when the helper did not live to answer
  std::string ending;  ///< how it ended
};

std::filesystem::path helper() { return load_sentencepiece().folder / "ballast-learn-vocabulary"; }

/// Collects small texts, since each that is sent on its own costs a system call.
class Sender {
 public:
  explicit Sender(ChildProcess& child) : child_(child) {}

  /// False when the helper does not read any more.
  bool add(std::string_view text) {
    waiting_ += frame_of(text);
    return waiting_.size() < enough || flush();
  }
  bool flush() {
    const bool sent = child_.send(waiting_);
    waiting_.clear();
    return sent;
  }

 private:
  static constexpr std::size_t enough = 1 << 18;

  ChildProcess& child_;
  std::string waiting_;
};

Answer answer_of(ChildProcess& child, const std::stop_token& stop) {
  const std::string bytes = child.answer(stop);
  std::string_view rest = bytes;
  std::string kind;
  Answer answer{.ending = child.ending()};
  const bool complete = take_frame(rest, kind) && take_frame(rest, answer.text);
  answer.ok = complete && kind == answer_ok;
  answer.lacked_memory = complete ? kind == answer_memory : child.killed();
  return answer;
}

/// Sends at most `wanted` sentences, evenly spaced.
void send_sentences(Sender& sender, std::span<const std::string> sentences, int64_t wanted,
                    const std::stop_token& stop) {
  const auto all = sentences.size();
  const auto kept = std::min(all, static_cast<std::size_t>(wanted));
  for (std::size_t i = 0; i < kept; ++i) {
    for (const std::string_view part : learning_parts(sentences[i * all / kept])) {
      if (stop.stop_requested() || !sender.add(part)) return;
    }
  }
  sender.flush();
}

/// Length of the part that `text`, which is longer, begins with: to its last space, else to the end
/// of a character.
std::size_t part_length(std::string_view text) {
  const auto space = text.rfind(' ', longest_word);
  if (space != std::string_view::npos && space > 0) return space;
  const auto is_inside_character = [](char byte) { return (byte & 0xc0) == 0x80; };
  std::size_t end = longest_word;
  while (end > longest_word - 3 && is_inside_character(text[end])) --end;
  return end;
}

}  // namespace

bool has_overlong_word(std::string_view text) {
  while (text.size() > longest_word) {
    const auto space = text.find(' ');
    if (std::min(space, text.size()) > longest_word) return true;
    text.remove_prefix(space + 1);
  }
  return false;
}

std::vector<std::string_view> learning_parts(std::string_view line) {
  if (line.size() <= longest_word) return {line};
  std::vector<std::string_view> parts;
  std::unordered_set<std::string_view> known;
  const auto add = [&](std::string_view part) {
    if (known.insert(part).second) parts.push_back(part);
  };
  while (line.size() > longest_word) {
    const std::size_t length = part_length(line);
    add(line.substr(0, length));
    line.remove_prefix(length);
  }
  add(line);
  return parts;
}

std::string learned_model(std::span<const std::string> sentences, const LearnedChoice& options,
                          const std::stop_token& stop) {
  if (sentences.empty()) {
    throw DataError("there is no sentence to learn a vocabulary from; give training text");
  }
  const auto [settings, wanted, size] = std::visit(
      [](const auto& held) {
        return std::tuple(settings_of(held), held.training_sentences, held.vocabulary_size);
      },
      options);
  ChildProcess child(helper());
  Sender sender(child);
  sender.add(learn_request);
  for (const auto& [name, value] : settings) {
    sender.add(name);
    sender.add(value);
  }
  sender.add("");
  send_sentences(sender, sentences, wanted, stop);
  Answer answer = answer_of(child, stop);
  if (answer.ok) return std::move(answer.text);
  if (answer.lacked_memory) throw std::runtime_error(out_of_memory());
  if (!answer.text.empty()) refuse_training(answer.text, size);
  throw DataError(
      fmt::format("SentencePiece {} while it learned a vocabulary of {} pieces from this text; try "
                  "another kind of tokenizer, or lower its training_sentences",
                  answer.ending, size));
}

void check_model(std::string_view serialized, const std::string& name,
                 const std::stop_token& stop) {
  ChildProcess child(helper());
  Sender sender(child);
  sender.add(check_request);
  sender.add(serialized);
  sender.flush();
  const Answer answer = answer_of(child, stop);
  if (answer.ok) return;
  throw DataError(fmt::format(
      "{}: is no sound SentencePiece model: {}; expected a .model file as spm_train writes it",
      name, answer.text.empty() ? "the library " + answer.ending : told(answer.text)));
}

}  // namespace ballast
