#pragma once

#include <functional>
#include <optional>

#include "ballast/decode/translate.h"

namespace ballast {

/// Where sources come from, one at a time.
struct SourceStream {
  /// The next source, ids with the end piece; nothing at the end. May wait. What it throws ends the
  /// stream: all before it is translated and told, then it is thrown on.
  std::function<std::optional<std::vector<int64_t>>()> next;
  /// Whether `next` would answer at once.
  std::function<bool()> ready;
};

/// Told the hypotheses of every source, in order, numbered from 0.
using TranslationSink = std::function<void(int64_t number, const Hypotheses& found)>;

/// Translates sources while they come, as `translate` does. Sources are read in windows of
/// `stream_window_batches` batches, sorted by length; a window ends early, and is translated at
/// once, when there is nothing more to read yet. So someone who waits for the answer to the last
/// line gets it, and a fast big file is translated in big batches. Memory does not grow with the
/// number of sources. Neither `in` nor `out` is called by two threads at once, and what `out`
/// throws ends the translation. A source may be no longer than the models' positions.
void translate_stream(std::span<Transformer* const> models, const SourceStream& in,
                      const TranslationSink& out, const DecodeOptions& options,
                      const SpecialIds& special = {});

/// Batches of `DecodeOptions::batch_tokens` that are read ahead and sorted.
inline constexpr int64_t stream_window_batches = 16;

}  // namespace ballast
