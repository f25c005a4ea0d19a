#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/data/sentencepiece_library.h"
#include "ballast/data/tokenizer_model.h"

namespace ballast {
namespace {

namespace spm = sentencepiece_module;

spm::IdSink into(std::vector<int64_t>& ids) {
  return {&ids, [](void* receiver, const int* found, std::size_t count) {
            static_cast<std::vector<int64_t>*>(receiver)->assign(found, found + count);
          }};
}

spm::Text view(std::string_view text) { return {text.data(), text.size()}; }

/// The special ids of a model; one that has no begin piece begins with the pad piece.
TokenIds special_ids(const spm::Ids& found) {
  const int begin = found.begin < 0 ? found.pad : found.begin;
  if (found.unknown < 0 || begin < 0 || found.end < 0) {
    throw DataError(fmt::format(
        "the SentencePiece model has unknown piece {}, begin piece {}, pad piece {} and end piece "
        "{} (-1 is none); expected unknown, end, and begin or pad; train it with unk_id, bos_id "
        "and eos_id",
        found.unknown, found.begin, found.pad, found.end));
  }
  return {found.size, found.pad, found.unknown, begin, found.end};
}

class SentencePieceModel : public TokenizerModel {
 public:
  explicit SentencePieceModel(std::string serialized)
      : interface_(load_sentencepiece().interface), processor_(load_processor(serialized)) {
    serialized_ = std::move(serialized);
    ids_ = special_ids(interface_.ids(processor_.get()));
  }

  std::vector<int64_t> encode(std::string_view text) const override {
    std::vector<int64_t> ids;
    std::string error;
    if (!interface_.encode(processor_.get(), view(text), into(ids), text_sink(error))) {
      throw DataError(fmt::format("a sentence of {} bytes could not be cut into pieces: {}",
                                  text.size(), error));
    }
    return ids;
  }

  std::string decode(std::span<const int64_t> ids) const override {
    const std::vector<int> narrow(ids.begin(), ids.end());
    std::string text, error;
    if (!interface_.decode(processor_.get(), narrow.data(), narrow.size(), text_sink(text),
                           text_sink(error))) {
      throw DataError(fmt::format("{} ids could not be turned into text: {}", ids.size(), error));
    }
    return text;
  }

  Piece piece(int64_t id) const override {
    const auto found = interface_.piece(processor_.get(), static_cast<int>(id));
    return {std::string(found.text.bytes, found.text.size), found.score,
            static_cast<PieceKind>(found.kind)};
  }

 private:
  const spm::Interface& interface_;
  SentencePieceProcessor processor_;
};

}  // namespace

std::shared_ptr<const TokenizerModel> sentencepiece_model(std::string serialized) {
  return std::make_shared<SentencePieceModel>(std::move(serialized));
}

}  // namespace ballast
