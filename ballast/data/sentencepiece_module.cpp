#include "ballast/data/sentencepiece_module.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace ballast::sentencepiece_module {
namespace {

using sentencepiece::SentencePieceProcessor;
using sentencepiece::util::Status;

void give(TextSink sink, absl::string_view text) {
  sink.take(sink.receiver, {text.data(), text.size()});
}

absl::string_view view(Text text) { return {text.bytes, text.size}; }

const SentencePieceProcessor& as_processor(const void* processor) {
  return *static_cast<const SentencePieceProcessor*>(processor);
}

/// Runs `work`, which returns a Status, and turns every failure into a text.
template <class Work>
bool attempt(TextSink error, Work work) {
  try {
    const Status status = work();
    if (status.ok()) return true;
    give(error, status.ToString());
  } catch (const std::exception& failure) {
    give(error, failure.what());
  }
  return false;
}

void* load(Text model, TextSink error) {
  std::unique_ptr<SentencePieceProcessor> made;
  const bool loaded = attempt(error, [&] {
    made = std::make_unique<SentencePieceProcessor>();
    return made->LoadFromSerializedProto(view(model));
  });
  return loaded ? made.release() : nullptr;
}

void release(void* processor) { delete static_cast<SentencePieceProcessor*>(processor); }

Ids ids(const void* processor) {
  const auto& model = as_processor(processor);
  return {model.GetPieceSize(), model.pad_id(), model.unk_id(), model.bos_id(), model.eos_id()};
}

Piece piece(const void* processor, int id) {
  const auto& model = as_processor(processor);
  const std::string& text = model.IdToPiece(id);
  PieceKind kind = PieceKind::normal;
  if (model.IsUnknown(id)) kind = PieceKind::unknown;
  if (model.IsControl(id)) kind = PieceKind::control;
  if (model.IsUnused(id)) kind = PieceKind::unused;
  if (model.IsByte(id)) kind = PieceKind::byte;
  return {{text.data(), text.size()}, model.GetScore(id), kind};
}

bool encode(const void* processor, Text text, IdSink ids, TextSink error) {
  return attempt(error, [&] {
    std::vector<int> found;
    const Status status = as_processor(processor).Encode(view(text), &found);
    if (status.ok()) ids.take(ids.receiver, found.data(), found.size());
    return status;
  });
}

bool decode(const void* processor, const int* ids, std::size_t count, TextSink text,
            TextSink error) {
  return attempt(error, [&] {
    std::string found;
    const Status status =
        as_processor(processor).Decode(std::vector<int>(ids, ids + count), &found);
    if (status.ok()) give(text, found);
    return status;
  });
}

bool pieces(const void* processor, Text text, TextSink piece, TextSink error) {
  return attempt(error, [&] {
    std::vector<std::string> found;
    const Status status = as_processor(processor).Encode(view(text), &found);
    for (const std::string& each : found) give(piece, each);
    return status;
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Interface*
ballast_sentencepiece_interface() {
  static constexpr Interface made{load, release, ids, piece, encode, decode, pieces};
  return &made;
}

}  // namespace ballast::sentencepiece_module
