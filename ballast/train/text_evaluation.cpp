#include "ballast/train/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "ballast/data/contexts.h"
#include "ballast/data/documents.h"

namespace ballast {
namespace {

using Visit = std::function<void(const std::string& document, const TextSize& size)>;

/// A line of plain text counts with its end, whether or not it holds one.
TextSize size_of_document(const std::string& document, bool is_line) {
  TextSize size = text_size(document);
  if (is_line && !document.ends_with('\n')) size += {.line_ends = 1, .bytes = 1};
  return size;
}

void for_each_document(const std::vector<std::string>& files, const DocumentRules& rules,
                       const Visit& visit) {
  for (const std::string& file : files) {
    const bool is_line = rules.kind == Documents::lines && !is_json_lines(file);
    DocumentReader reader(file, rules);
    while (const auto document = reader.next()) {
      visit(*document, size_of_document(*document, is_line));
    }
  }
}

}  // namespace

bool continues_text(const ModelOptions& options) {
  return !options.shape().has_source && !options.shape().predicts_masked();
}

EncodedText read_text(const std::vector<std::string>& files, const Tokenizer& tokenizer,
                      const DataOptions& data) {
  EncodedText text;
  std::vector<int64_t> opening;
  if (const auto piece = begin_piece(tokenizer)) opening.push_back(*piece);
  std::vector<int64_t> stream = opening;
  const auto visit = [&](const std::string& document, const TextSize& size) {
    const std::vector<int64_t> ids = tokenizer.encode(document);
    const bool is_left_out = ids.empty() && size.line_ends == 0;
    if (is_left_out) return;
    text.unknown += std::ranges::count(ids, tokenizer.unknown_id());
    text.size += size;
    stream.insert(stream.end(), ids.begin(), ids.end());
    if (tokenizer.end_id() >= 0) stream.push_back(tokenizer.end_id());
    if (!data.cross_documents) text.sequences.push_back(std::exchange(stream, opening));
  };
  for_each_document(files, document_rules(data, tokenizer), visit);
  if (data.cross_documents) text.sequences.push_back(std::move(stream));
  return text;
}

TextSize size_of_files(const std::vector<std::string>& files, const DataOptions& data) {
  TextSize size;
  for_each_document(files, {data.documents, data.json_field},
                    [&](const std::string&, const TextSize& of_one) { size += of_one; });
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
