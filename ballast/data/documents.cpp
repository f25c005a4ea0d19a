#include "ballast/data/documents.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/data/parallel_text.h"

namespace ballast {

bool is_json_lines(const std::filesystem::path& file) {
  const auto packing = file.extension();
  const bool is_packed = packing == ".gz" || packing == ".zst";
  return (is_packed ? file.stem() : file.filename()).extension() == ".jsonl";
}

DocumentRules document_rules(const DataOptions& data, const Tokenizer& tokenizer) {
  const bool keeps_line_ends = data.documents == Documents::lines && tokenizer.end_id() < 0;
  return {data.documents, data.json_field, keeps_line_ends};
}

DocumentReader::DocumentReader(const std::filesystem::path& file, const DocumentRules& rules)
    : reader_(file) {
  if (is_json_lines(file)) {
    next_ = [this, field = rules.json_field] { return next_object(field); };
    return;
  }
  switch (rules.kind) {
    case Documents::lines:
      next_ = [this, keeps = rules.keeps_line_ends] { return next_line(keeps); };
      break;
    case Documents::empty_lines:
      next_ = [this] { return next_paragraphs(); };
      break;
    case Documents::file:
      next_ = [this] { return next_file(); };
      break;
  }
}

void DocumentReader::check_length(std::size_t bytes) const {
  if (bytes <= longest_document) return;
  throw DataError(fmt::format(
      "{}:{}: the document is longer than {} bytes; expected shorter ones; split it, or say with "
      "data.documents what separates them",
      reader_.name(), reader_.line(), longest_document));
}

std::optional<std::string> DocumentReader::next_line(bool keeps_end) {
  const auto line = reader_.next();
  if (!line) return std::nullopt;
  std::string text(*line);
  if (keeps_end) text += '\n';
  return text;
}

std::optional<std::string> DocumentReader::next_paragraphs() {
  std::string text;
  bool has_line = false;
  while (const auto line = reader_.next()) {
    if (is_blank(*line)) {
      if (has_line) return text;
      continue;
    }
    if (has_line) text += '\n';
    text += *line;
    has_line = true;
    check_length(text.size());
  }
  return has_line ? std::optional(std::move(text)) : std::nullopt;
}

std::optional<std::string> DocumentReader::next_file() {
  std::string text;
  bool has_line = false;
  while (const auto line = reader_.next()) {
    text += *line;
    if (reader_.had_end()) text += '\n';
    has_line = true;
    check_length(text.size());
  }
  return has_line ? std::optional(std::move(text)) : std::nullopt;
}

std::optional<std::string> DocumentReader::next_object(const std::string& field) {
  auto line = reader_.next();
  while (line && is_blank(*line)) line = reader_.next();
  if (!line) return std::nullopt;
  const auto object = nlohmann::json::parse(*line, nullptr, false);
  const bool is_object = object.is_object();
  if (is_object && object.contains(field) && object[field].is_string()) {
    return object[field].get<std::string>();
  }
  throw DataError(fmt::format(
      "{}:{}: {}; expected a JSON object a line with its text under \"{}\", such as {{\"{}\": "
      "\"...\"}}; data.json_field names another field",
      reader_.name(), reader_.line(),
      object.is_discarded() ? "is no JSON"
      : !is_object          ? "is no JSON object"
                            : fmt::format("the object has no text under \"{}\"", field),
      field, field));
}

void for_each_text_line(
    const std::filesystem::path& file, const std::string& json_field,
    const std::function<void(std::string_view, const std::string&, int64_t)>& visit) {
  if (!is_json_lines(file)) {
    LineReader reader(file);
    while (const auto line = reader.next()) visit(*line, reader.name(), reader.line());
    return;
  }
  DocumentReader reader(file, {.json_field = json_field});
  int64_t number = 0;
  while (const auto text = reader.next()) {
    ++number;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      visit(rest.substr(0, end), file.string(), number);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
}

}  // namespace ballast
