#include "ballast/data/text.h"

#include <fmt/format.h>

#include <cstring>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t read_size = 1 << 16;

/// Length of the ASCII front, eight bytes at a time.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

struct Lead {
  std::size_t length = 0;                 ///< 0 when the byte begins no character
  unsigned char low = 0x80, high = 0xbf;  ///< range of the second byte
};

/// What may follow a byte above 0x7f (Unicode 15, table 3-7).
Lead lead(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return {2};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {3};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {4};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {};
}

/// Length of the character beyond ASCII that `text` starts with, 0 when it is not valid.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead form = lead(byte(0));
  if (form.length == 0 || text.size() < form.length) return 0;
  if (byte(1) < form.low || byte(1) > form.high) return 0;
  for (std::size_t i = 2; i < form.length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return form.length;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while ((at += ascii_prefix(text.substr(at))) < text.size()) {
    const std::size_t length = character(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  for (;;) {
    const size_t good = valid_utf8_prefix(text);
    valid += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) return valid;
    valid += "\uFFFD";
    text.remove_prefix(1);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80) {
      text.remove_prefix(1);
    }
  }
}

bool is_valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

LineReader::LineReader(const std::filesystem::path& file)
    : name_(file == "-" ? "standard input" : file.string()), source_(open_bytes(file)) {
  while (buffer_.size() < byte_order_mark.size() && byte_order_mark.starts_with(buffer_) &&
         refill()) {
  }
  if (buffer_.starts_with(byte_order_mark)) begin_ = byte_order_mark.size();
}

bool LineReader::refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + read_size);
  const std::size_t count = source_->read(std::span(buffer_).subspan(before));
  buffer_.resize(before + count);
  return count > 0;
}

std::optional<std::string_view> LineReader::next() {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_ + searched);
    if (end != std::string::npos) return take(end - begin_, 1);
    searched = buffer_.size() - begin_;
    if (searched > longest_line) {
      throw DataError(
          fmt::format("{}:{}: the line is longer than {} bytes; expected one sentence "
                      "or paragraph a line; split it",
                      name_, line_ + 1, longest_line));
    }
    if (refill()) continue;
    if (searched == 0) return std::nullopt;
    return take(searched, 0);
  }
}

bool LineReader::ready() {
  std::size_t searched = 0;
  while (buffer_.find('\n', begin_ + searched) == std::string::npos) {
    searched = buffer_.size() - begin_;
    if (searched > longest_line) return true;
    if (!source_->ready()) return false;
    if (!refill()) return true;
  }
  return true;
}

std::string_view LineReader::take(std::size_t length, std::size_t end_mark) {
  ++line_;
  std::string_view line(buffer_.data() + begin_, length);
  begin_ += length + end_mark;
  had_end_ = end_mark > 0;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return checked(line);
}

std::string_view LineReader::checked(std::string_view line) const {
  const std::size_t valid = valid_utf8_prefix(line);
  if (valid == line.size()) return line;
  throw DataError(fmt::format(
      "{}:{}: byte {} of the line (0x{:02X}) is not UTF-8; expected UTF-8 text; convert the file, "
      "for example with iconv -f latin1 -t utf-8",
      name_, line_, valid + 1, static_cast<unsigned char>(line[valid])));
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  LineReader reader(file);
  std::vector<std::string> lines;
  while (const auto line = reader.next()) lines.emplace_back(*line);
  return lines;
}

}  // namespace ballast
