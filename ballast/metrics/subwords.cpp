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

spm::TextSink joined_into(std::string& text) {
  return {&text, [](void* receiver, spm::Text piece) {
            static_cast<std::string*>(receiver)->append(piece.bytes, piece.size).push_back(' ');
          }};
}

std::u32string spaced(void* processor, std::u32string_view line) {
  const std::string text = utf8(line);
  std::string pieces, error;
  if (load_sentencepiece().interface.pieces(processor, {text.data(), text.size()},
                                            joined_into(pieces), text_sink(error))) {
    return code_points(pieces);
  }
  throw DataError(
      fmt::format("a line of {} bytes could not be cut into pieces: {}", text.size(), error));
}

}  // namespace

LineTokenizer subwords(const std::string& model_file, const std::string& signature) {
  const std::string bytes = read_model(model_file);
  const std::shared_ptr<void> processor = load_processor(bytes);
  const auto checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return {signature.empty() ? fmt::format("spm-{:08x}", checksum) : signature,
          [processor](std::u32string_view line) { return spaced(processor.get(), line); }};
}

}  // namespace ballast
