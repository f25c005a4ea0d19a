#include "ballast/data/tokenizer.h"

#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/data/learn_vocabulary.h"
#include "ballast/data/tokenizer_model.h"

namespace ballast {
namespace {

void check(int64_t id, int64_t size) {
  if (id >= 0 && id < size) return;
  throw DataError(fmt::format("{} is no id of this vocabulary; expected 0 to {}", id, size - 1));
}

}  // namespace

Tokenizer Tokenizer::train(std::span<const std::string> sentences, const LearnedChoice& options,
                           const std::stop_token& stop) {
  return from_model(learned_model(sentences, options, stop));
}

Tokenizer Tokenizer::from_model(std::string serialized) {
  return Tokenizer(sentencepiece_model(std::move(serialized)));
}

Tokenizer Tokenizer::from_words(std::span<const std::string> lines, const std::string& name) {
  return Tokenizer(word_model(lines, name));
}

Tokenizer Tokenizer::from_json(std::string text, const std::string& name) {
  return Tokenizer(byte_pair_model(std::move(text), name));
}

std::vector<int64_t> Tokenizer::encode(std::string_view text) const { return model_->encode(text); }

std::string Tokenizer::decode(std::span<const int64_t> ids) const {
  for (const int64_t id : ids) check(id, size());
  return model_->decode(ids);
}

Piece Tokenizer::piece(int64_t id) const {
  check(id, size());
  return model_->piece(id);
}

int64_t Tokenizer::size() const { return model_->ids().size; }
int64_t Tokenizer::pad_id() const { return model_->ids().pad; }
int64_t Tokenizer::unknown_id() const { return model_->ids().unknown; }
int64_t Tokenizer::begin_id() const { return model_->ids().begin; }
int64_t Tokenizer::end_id() const { return model_->ids().end; }
const std::string& Tokenizer::serialized() const { return model_->serialized(); }

}  // namespace ballast
