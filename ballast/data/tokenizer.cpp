#include "ballast/data/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ballast/base/error.h"
#include "ballast/data/sentencepiece_library.h"

namespace ballast {
namespace {

namespace spm = sentencepiece_module;

/// The sums of the unigram trainer depend on how many threads share them, so the number is fixed.
constexpr const char* training_threads = "4";
constexpr const char* only_fatal_messages = "3";
constexpr const char* longest_training_sentence = "1048576";

spm::TextSink into(std::string& text) {
  return {&text, [](void* receiver, spm::Text part) {
            static_cast<std::string*>(receiver)->assign(part.bytes, part.size);
          }};
}

spm::IdSink into(std::vector<int64_t>& ids) {
  return {&ids, [](void* receiver, const int* found, std::size_t count) {
            static_cast<std::vector<int64_t>*>(receiver)->assign(found, found + count);
          }};
}

spm::Text view(std::string_view text) { return {text.data(), text.size()}; }

std::string_view name_of(Subwords kind) {
  return kind == Subwords::character ? "char" : enum_name(kind);
}

std::vector<std::pair<std::string, std::string>> settings_of(const TokenizerOptions& options) {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return {{"model_type", std::string(name_of(options.kind))},
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

/// At most `wanted` sentences, evenly spaced.
std::vector<spm::Text> sample(std::span<const std::string> sentences, int64_t wanted) {
  const auto all = sentences.size();
  const auto kept = std::min(all, static_cast<std::size_t>(wanted));
  std::vector<spm::Text> views;
  views.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) views.push_back(view(sentences[i * all / kept]));
  return views;
}

/// The digits that follow `marker`, empty when it does not occur.
std::string number_after(const std::string& message, const std::string& marker) {
  const auto at = message.find(marker);
  if (at == std::string::npos) return {};
  const auto rest = message.substr(at + marker.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

/// The error of a training that failed, from SentencePiece's words about it.
[[noreturn]] void refuse_training(const std::string& message, const TokenizerOptions& options) {
  const auto wanted = fmt::to_string(options.vocabulary_size);
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
                              wanted, message));
}

}  // namespace

class Tokenizer::Model {
 public:
  explicit Model(std::string serialized)
      : interface_(load_sentencepiece()), serialized_(std::move(serialized)) {
    std::string error;
    processor_ = interface_.load(view(serialized_), into(error));
    if (processor_ == nullptr) {
      throw DataError(
          fmt::format("these {} bytes are no SentencePiece model ({}); expected the "
                      "contents of a .model file",
                      serialized_.size(), error));
    }
    ids_ = interface_.ids(processor_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { interface_.release(processor_); }

  const spm::Interface& interface() const { return interface_; }
  const void* processor() const { return processor_; }
  const spm::Ids& ids() const { return ids_; }
  const std::string& serialized() const { return serialized_; }

 private:
  const spm::Interface& interface_;
  std::string serialized_;
  void* processor_ = nullptr;
  spm::Ids ids_{};
};

Tokenizer Tokenizer::train(std::span<const std::string> sentences,
                           const TokenizerOptions& options) {
  if (sentences.empty()) {
    throw DataError("there is no sentence to learn a vocabulary from; give training text");
  }
  const auto texts = sample(sentences, options.training_sentences);
  const auto settings = settings_of(options);
  std::vector<spm::Setting> views;
  for (const auto& [name, value] : settings) views.push_back({name.c_str(), value.c_str()});
  const spm::Training training{texts.data(), texts.size(), views.data(), views.size()};
  std::string serialized, error;
  if (!load_sentencepiece().train(&training, into(serialized), into(error))) {
    refuse_training(error, options);
  }
  return from_model(std::move(serialized));
}

Tokenizer Tokenizer::from_model(std::string serialized) {
  auto model = std::make_shared<const Model>(std::move(serialized));
  const spm::Ids& ids = model->ids();
  if (ids.unknown < 0 || ids.begin < 0 || ids.end < 0) {
    throw DataError(fmt::format(
        "the SentencePiece model has unknown piece {}, begin piece {} and end piece {} (-1 is "
        "none); expected all three; train it with unk_id, bos_id and eos_id",
        ids.unknown, ids.begin, ids.end));
  }
  return Tokenizer(std::move(model));
}

std::vector<int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  std::string error;
  if (!model_->interface().encode(model_->processor(), view(text), into(ids), into(error))) {
    throw DataError(
        fmt::format("a sentence of {} bytes could not be cut into pieces: {}", text.size(), error));
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int64_t> ids) const {
  std::vector<int> narrow;
  narrow.reserve(ids.size());
  for (const int64_t id : ids) {
    if (id < 0 || id >= size()) {
      throw DataError(
          fmt::format("{} is no id of this vocabulary; expected 0 to {}", id, size() - 1));
    }
    narrow.push_back(static_cast<int>(id));
  }
  std::string text, error;
  if (!model_->interface().decode(model_->processor(), narrow.data(), narrow.size(), into(text),
                                  into(error))) {
    throw DataError(fmt::format("{} ids could not be turned into text: {}", ids.size(), error));
  }
  return text;
}

Piece Tokenizer::piece(int64_t id) const {
  if (id < 0 || id >= size()) {
    throw DataError(
        fmt::format("{} is no id of this vocabulary; expected 0 to {}", id, size() - 1));
  }
  const auto found = model_->interface().piece(model_->processor(), static_cast<int>(id));
  return {std::string(found.text.bytes, found.text.size), found.score,
          static_cast<PieceKind>(found.kind)};
}

int64_t Tokenizer::size() const { return model_->ids().size; }
int64_t Tokenizer::pad_id() const { return model_->ids().pad; }
int64_t Tokenizer::unknown_id() const { return model_->ids().unknown; }
int64_t Tokenizer::begin_id() const { return model_->ids().begin; }
int64_t Tokenizer::end_id() const { return model_->ids().end; }
const std::string& Tokenizer::serialized() const { return model_->serialized(); }

}  // namespace ballast
