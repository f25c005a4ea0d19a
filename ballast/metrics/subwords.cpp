#include "ballast/metrics/subwords.h"

#include <fmt/format.h>
#include <zlib.h>

#include <memory>

#include "ballast/base/error.h"
#include "ballast/data/sentencepiece_library.h"
#include "ballast/data/vocabulary_file.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

namespace spm = sentencepiece_module;

spm::TextSink into(std::string& text) {
  return {&text, [](void* receiver, spm::Text part) {
            static_cast<std::string*>(receiver)->assign(part.bytes, part.size);
          }};
}

spm::TextSink joined_into(std::string& text) {
  return {&text, [](void* receiver, spm::Text piece) {
            static_cast<std::string*>(receiver)->append(piece.bytes, piece.size).push_back(' ');
          }};
}

class Model {
 public:
  Model(const std::string& bytes, const std::string& file)
      : interface_(load_sentencepiece().interface) {
    std::string error;
    processor_ = interface_.load({bytes.data(), bytes.size()}, into(error));
    if (processor_ != nullptr) return;
    throw DataError(fmt::format("{} is no SentencePiece model ({} bytes: {})", file, bytes.size(),
                                error.empty() ? "it cannot be parsed" : error));
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { interface_.release(processor_); }

  std::u32string spaced(std::u32string_view line) const {
    const std::string text = utf8(line);
    std::string pieces, error;
    if (interface_.pieces(processor_, {text.data(), text.size()}, joined_into(pieces),
                          into(error))) {
      return code_points(pieces);
    }
    throw DataError(
        fmt::format("a line of {} bytes could not be cut into pieces: {}", text.size(), error));
  }

 private:
  const spm::Interface& interface_;
  void* processor_ = nullptr;
};

}  // namespace

LineTokenizer subwords(const std::string& model_file, const std::string& signature) {
  const std::string bytes = read_model(model_file);
  const auto model = std::make_shared<const Model>(bytes, model_file);
  const auto checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return {signature.empty() ? fmt::format("spm-{:08x}", checksum) : signature,
          [model](std::u32string_view line) { return model->spaced(line); }};
}

}  // namespace ballast
