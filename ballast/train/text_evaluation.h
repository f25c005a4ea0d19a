#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/data/options.h"
#include "ballast/data/tokenizer.h"
#include "ballast/metrics/text_size.h"
#include "ballast/train/score_windows.h"

namespace ballast {

/// Whether a model continues texts: a decoder without a source, which windows are made for.
bool continues_text(const ModelOptions& options);

/// A text as a language model is judged by it.
struct EncodedText {
  /// Each begins with an id that is only read. One for all files where contexts span documents, as
  /// the training has it, else one for each document.
  std::vector<std::vector<int64_t>> sequences;
  TextSize size;        ///< of the text of all files; the end piece of a line is its "\n"
  int64_t unknown = 0;  ///< unknown pieces among the ids
};

/// Text that a language model reads: documents as the options have them, each with the end piece
/// after it; a line of plain text keeps its "\n" where the vocabulary has no end piece. Raises what
/// `DocumentReader` raises.
EncodedText read_text(const std::vector<std::string>& files, const Tokenizer& tokenizer,
                      const DataOptions& data);

/// The size of such a text alone.
TextSize size_of_files(const std::vector<std::string>& files, const DataOptions& data);

/// What a language model is measured by.
struct TextEvaluation {
  double nll = 0;   ///< sum over the tokens, in nats
  double loss = 0;  ///< the same with label smoothing
  int64_t tokens = 0;
  int64_t unknown = 0;
  TextSize size;

  /// exp(nll / count): by token, by word, by byte, by whatever is counted; 1 where there is
  /// neither, infinite where only the count is 0.
  double perplexity(int64_t count) const;
};

/// nll / (bytes ln 2) of a sum in nats: the base-2 logarithm of the perplexity by byte.
double bits_per_byte(double nll, int64_t bytes);

/// Scores every token of a text once, in sliding windows.
TextEvaluation evaluate_text(Transformer& model, const EncodedText& text, const Sliding& sliding,
                             const Scoring& scoring);

}  // namespace ballast
