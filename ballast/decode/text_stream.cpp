#include "ballast/decode/text_stream.h"

#include <algorithm>
#include <utility>

#include "ballast/data/text.h"

namespace ballast {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes at the end of a text that begin a character and do not finish it.
size_t unfinished_bytes(std::string_view text) {
  constexpr size_t most = 3;
  for (size_t count = 1; count <= std::min(most, text.size()); ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return count < length ? count : 0;
  }
  return 0;
}

/// Where the first of the stop texts begins; npos where there is none.
size_t first_of(const std::string& text, const std::vector<std::string>& stops) {
  size_t first = std::string::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return first;
}

/// Bytes at the end of a text with which one of the stop texts begins.
size_t begun(std::string_view text, const std::vector<std::string>& stops) {
  size_t most = 0;
  for (const std::string& stop : stops) {
    for (size_t count = std::min(text.size(), stop.size() - 1); count > most; --count) {
      if (text.ends_with(std::string_view(stop).substr(0, count))) most = count;
    }
  }
  return most;
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, std::span<const int64_t> prompt,
                       std::vector<std::string> stops)
    : tokenizer_(tokenizer), stops_(std::move(stops)) {
  constexpr size_t enough = 8;  // ids whose text says what stands before the next
  const auto last = prompt.last(std::min(enough, prompt.size()));
  ids_.assign(last.begin(), last.end());
  known_ = ids_.size();
}

// Text is that of all ids less that of the known ones, since a piece may give another text at the
// beginning than behind others. A character has four bytes at most: after as many tokens without a
// whole one, none will come.
void TextStream::read_tokens(bool all) {
  constexpr size_t most_waiting = 3;
  if (known_ == ids_.size()) return;
  const std::string before = tokenizer_.decode(std::span(ids_).first(known_));
  const std::string whole = tokenizer_.decode(ids_);
  const bool unfinished = unfinished_bytes(whole) > 0 || whole.ends_with(replacement);
  if (!all && unfinished && ids_.size() - known_ <= most_waiting) return;
  kept_ += valid_utf8(std::string_view(whole).substr(std::min(before.size(), whole.size())));
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(known_));
  known_ = ids_.size();
}

std::string TextStream::released(bool all) {
  std::string given;
  if (const size_t stop = first_of(kept_, stops_); stop != std::string::npos) {
    given = kept_.substr(0, stop);
    kept_.clear();
    stopped_ = true;
  } else {
    given = kept_.substr(0, kept_.size() - (all ? 0 : begun(kept_, stops_)));
    kept_.erase(0, given.size());
  }
  text_ += given;
  return given;
}

std::string TextStream::add(int64_t token) {
  if (stopped_) return {};
  if (token == tokenizer_.end_id()) {
    read_tokens(true);
    kept_ += '\n';
    ids_.clear();
    known_ = 0;
  } else {
    ids_.push_back(token);
    read_tokens(false);
  }
  return released(false);
}

std::string TextStream::finish() {
  if (stopped_) return {};
  read_tokens(true);
  return released(true);
}

}  // namespace ballast
