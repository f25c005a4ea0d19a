#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/data/tokenizer.h"

namespace ballast {

/// A text that comes token by token. Never gives half a character, nor anything of a stop text or
/// behind it: what may become one is kept back until it is certain.
class TextStream {
 public:
  /// Behind a prompt's ids, without special pieces: spaces are those of the whole text. None of the
  /// stop texts is empty.
  TextStream(const Tokenizer& tokenizer, std::span<const int64_t> prompt,
             std::vector<std::string> stops);

  /// What is certain with one more token; the end piece is the end of a line.
  std::string add(int64_t token);

  /// What was kept back, where no token follows.
  std::string finish();

  /// Whether a stop text has come; then nothing follows.
  bool is_stopped() const { return stopped_; }

  const std::string& text() const { return text_; }  ///< all that was given

 private:
  void read_tokens(bool all);
  std::string released(bool all);

  Tokenizer tokenizer_;
  std::vector<std::string> stops_;
  std::vector<int64_t> ids_;  // from the last ones whose text is known on
  size_t known_ = 0;          // of ids_, those whose text is in text_ or kept_
  std::string kept_;          // whole characters that may begin a stop text
  std::string text_;
  bool stopped_ = false;
};

}  // namespace ballast
