#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/data/byte_source.h"

namespace ballast {

/// Number of bytes of `text` before the first that is no part of valid UTF-8 (Unicode 15, table
/// 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t valid_utf8_prefix(std::string_view text);

bool is_valid_utf8(std::string_view text);

/// The text with a replacement character in place of every sequence of bytes that is no UTF-8.
std::string valid_utf8(std::string_view text);

/// Longest line that is read, in bytes; what is longer is no text, or a file that unpacks without
/// end.
inline constexpr std::size_t longest_line = std::size_t{64} << 20;

/// Reads a text file line by line: plain, gzip or zstd (see `open_bytes`), `-` is standard input.
///
/// Lines end with LF, CR LF or the end of the file; a byte-order mark before the first is skipped.
/// Raises DataError with file and line for what is not UTF-8 or longer than `longest_line`.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file);

  /// The next line without its end, valid until the next call; nothing after the last.
  std::optional<std::string_view> next();

  /// Whether `next` would answer without waiting for whoever writes the text.
  bool ready();

  /// Number of the line that `next` returned last, from 1.
  int64_t line() const { return line_; }
  const std::string& name() const { return name_; }

  /// Whether the line that `next` returned last had an end, as all but the last have.
  bool had_end() const { return had_end_; }

  /// Bytes of the file that were read so far, as they lie in it.
  int64_t bytes_read() const { return source_->taken(); }

 private:
  bool refill();
  std::string_view take(std::size_t length, std::size_t end_mark);
  std::string_view checked(std::string_view line) const;

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t begin_ = 0;
  int64_t line_ = 0;
  bool had_end_ = false;
};

/// All lines of a text file, as `LineReader` gives them.
std::vector<std::string> read_lines(const std::filesystem::path& file);

}  // namespace ballast
