#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/data/options.h"
#include "ballast/data/text.h"
#include "ballast/data/tokenizer.h"

namespace ballast {

/// Longest document that is read, in bytes.
inline constexpr std::size_t longest_document = std::size_t{256} << 20;

/// Whether a file holds JSON lines, by its name: `.jsonl`, also with `.gz` or `.zst` behind it.
bool is_json_lines(const std::filesystem::path& file);

/// How a file is cut into documents.
struct DocumentRules {
  Documents kind = Documents::lines;  ///< of plain text
  std::string json_field = "text";
  bool keeps_line_ends = false;  ///< a document that is a line ends with "\n"
};

/// Those of a recipe: where the vocabulary has no end piece, its newline ends a line.
DocumentRules document_rules(const DataOptions& data, const Tokenizer& tokenizer);

/// The documents of a file, in order: plain text or JSON lines, as they are or packed (see
/// `open_bytes`).
///
/// `lines`: each line without its end. `empty_lines`: lines with "\n" between them, up to a line
/// that is blank. `file`: all of it, with "\n" for the ends that its lines have. JSON lines: the
/// text in the given field of the object in each line; blank lines are skipped. Raises DataError
/// with file and line for what is no such object, for documents beyond `longest_document`, and for
/// what `LineReader` refuses.
class DocumentReader {
 public:
  DocumentReader(const std::filesystem::path& file, const DocumentRules& rules);

  /// The next document, or nothing after the last; it may be empty.
  std::optional<std::string> next() { return next_(); }

  /// Bytes of the file that were read so far, as they lie in it.
  int64_t bytes_read() const { return reader_.bytes_read(); }

 private:
  std::optional<std::string> next_line(bool keeps_end);
  std::optional<std::string> next_paragraphs();
  std::optional<std::string> next_file();
  std::optional<std::string> next_object(const std::string& field);
  void check_length(std::size_t bytes) const;

  LineReader reader_;
  std::function<std::optional<std::string>()> next_;
};

/// Calls `visit(line, name, number)` for the lines that a vocabulary is learned from: those of a
/// plain text file, or those of the texts in JSON lines.
void for_each_text_line(const std::filesystem::path& file, const std::string& json_field,
                        const std::function<void(std::string_view line, const std::string& name,
                                                 int64_t number)>& visit);

}  // namespace ballast
