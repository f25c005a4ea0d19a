#include "ballast/train/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "ballast/data/text.h"

namespace ballast {
namespace {

using Visit = std::function<void(const std::string& document)>;

void for_each_document(const std::vector<std::string>& files, const DataOptions&,
                       const Visit& visit) {
  for (const std::string& file : files) {
    LineReader reader(file);
    while (const auto line = reader.next()) visit(std::string(*line));
  }
}

TextSize size_of_document(const std::string& document) {
  TextSize size = text_size(document);
  size += {.line_ends = 1, .bytes = 1};
  return size;
}

}  // namespace

bool continues_text(const ModelOptions& options) {
  return !options.shape().has_source && options.layers(Stack::decoder) > 0;
}

std::optional<int64_t> opening_piece(const Tokenizer& tokenizer) {
  for (const int64_t id : {tokenizer.begin_id(), tokenizer.end_id()}) {
    if (id >= 0) return id;
  }
  return std::nullopt;
}

EncodedText read_text(const std::vector<std::string>& files, const Tokenizer& tokenizer,
                      const DataOptions& data) {
  EncodedText text;
  std::vector<int64_t> stream;
  if (const auto opening = opening_piece(tokenizer)) stream.push_back(*opening);
  const bool has_end = tokenizer.end_id() >= 0;
  for_each_document(files, data, [&](const std::string& document) {
    const std::vector<int64_t> ids = tokenizer.encode(has_end ? document : document + '\n');
    text.unknown += std::ranges::count(ids, tokenizer.unknown_id());
    text.size += size_of_document(document);
    stream.insert(stream.end(), ids.begin(), ids.end());
    if (has_end) stream.push_back(tokenizer.end_id());
  });
  text.sequences.push_back(std::move(stream));
  return text;
}

TextSize size_of_files(const std::vector<std::string>& files, const DataOptions& data) {
  TextSize size;
  for_each_document(files, data,
                    [&](const std::string& document) { size += size_of_document(document); });
  return size;
}

double TextEvaluation::perplexity(int64_t count) const {
  return nll == 0 ? 1 : std::exp(nll / static_cast<double>(count));
}

double bits_per_byte(double nll, int64_t bytes) {
  return nll == 0 ? 0 : nll / (static_cast<double>(bytes) * std::numbers::ln2);
}

TextEvaluation evaluate_text(Transformer& model, const EncodedText& text, const Sliding& sliding,
                             const Scoring& scoring) {
  std::vector<Window> windows;
  for (const auto& ids : text.sequences) {
    const auto of_one = sliding_windows(ids, sliding);
    windows.insert(windows.end(), of_one.begin(), of_one.end());
  }
  const WindowScores scores = score_windows(model, windows, scoring);
  TextEvaluation found{.loss = scores.loss, .unknown = text.unknown, .size = text.size};
  for (const WindowScore& each : scores.windows) {
    found.nll -= each.log_probability;
    found.tokens += each.tokens;
  }
  return found;
}

}  // namespace ballast
