#include "ballast/verbs/translation_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ballast/data/text.h"
#include "ballast/train/progress.h"

namespace ballast {
namespace {

constexpr const char* erase_line = "\r\x1b[K";
constexpr auto terminal_interval = std::chrono::milliseconds(200);
constexpr auto plain_interval = std::chrono::seconds(30);

std::string text_line(const TranslationForm& form, const std::string& text,
                      const Hypothesis& each) {
  return form.scores ? fmt::format("{:.6f}\t{}\n", each.score, text) : text + '\n';
}

/// The number of tokens that the scores count: the end piece too, but for a blank line's.
int64_t length_of(const Hypothesis& each, bool is_blank) {
  return is_blank ? 0 : static_cast<int64_t>(each.tokens.size()) + 1;
}

std::string moses_line(int64_t number, const std::string& text, const Hypothesis& each,
                       int64_t length) {
  return fmt::format("{} ||| {} ||| log_probability= {:.6f} length= {} ||| {:.6f}\n", number, text,
                     each.log_probability, length, each.score);
}

std::string json_line(int64_t number, const std::string& source, const std::string& text,
                      const std::vector<std::string>& pieces, const Hypothesis& each,
                      int64_t length) {
  const nlohmann::ordered_json line{
      {"id", number},     {"source", source},    {"text", text},
      {"pieces", pieces}, {"score", each.score}, {"log_probability", each.log_probability},
      {"length", length}};
  using Json = nlohmann::ordered_json;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const Hypothesis& each) {
  std::vector<std::string> pieces;
  for (const int64_t token : each.tokens) pieces.push_back(tokenizer.piece(token).text);
  return pieces;
}

}  // namespace

TranslationNotes::TranslationNotes(bool counts)
    : counts_(counts), terminal_(isatty(STDERR_FILENO) == 1) {
  constexpr auto short_enough_to_wait = std::chrono::seconds(1);
  next_ = start_ + (terminal_ ? short_enough_to_wait : plain_interval);
}

TranslationNotes::~TranslationNotes() {
  if (open_) fmt::print(stderr, "\n");
}

void TranslationNotes::count(int64_t lines) {
  const Clock::time_point now = Clock::now();
  if (!counts_ || now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(terminal_interval) : plain_interval);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto text =
      fmt::format("{} lines | {} lines/s | {}", lines,
                  human_count(static_cast<double>(lines) / seconds), human_duration(seconds));
  fmt::print(stderr, "{}{}{}", terminal_ ? erase_line : "", text, terminal_ ? "" : "\n");
  open_ = terminal_;
}

void TranslationNotes::remark(const std::string& text) {
  if (open_) fmt::print(stderr, "{}", erase_line);
  open_ = false;
  fmt::print(stderr, "{}\n", text);
}

SourceLines::SourceLines(const std::filesystem::path& file, const Tokenizer& tokenizer,
                         SourceLimit limit, TranslationNotes& notes)
    : reader_(file), tokenizer_(tokenizer), limit_(limit), notes_(notes) {}

Source source_of(const Tokenizer& tokenizer, std::string_view line, int64_t limit) {
  std::vector<int64_t> ids = tokenizer.encode(line);
  const size_t tokens = ids.size() + 1;
  ids.resize(std::min(tokens, static_cast<size_t>(limit)) - 1);
  ids.push_back(tokenizer.end_id());
  return {std::move(ids), tokens};
}

std::optional<std::vector<int64_t>> SourceLines::next() {
  const auto line = reader_.next();
  if (!line) return std::nullopt;
  texts_.emplace_back(*line);
  Source source = source_of(tokenizer_, *line, limit_.tokens);
  if (source.tokens > source.ids.size()) {
    notes_.remark(fmt::format("line {}: {} tokens, cut to the limit of {} ({})", reader_.line(),
                              source.tokens, limit_.tokens, limit_.reason));
  }
  return std::move(source.ids);
}

std::string SourceLines::take_text() {
  std::string text = std::move(texts_.front());
  texts_.pop_front();
  return text;
}

std::string written(const TranslationForm& form, const Tokenizer& tokenizer, int64_t number,
                    const std::string& source, const Hypotheses& found) {
  const Hypotheses empty(1);
  const Hypotheses& all = found.empty() ? empty : found;
  std::string lines;
  for (size_t i = 0; i < std::min(all.size(), static_cast<size_t>(form.n_best)); ++i) {
    const Hypothesis& each = all[i];
    const std::string text = valid_utf8(tokenizer.decode(each.tokens));
    const int64_t length = length_of(each, found.empty());
    if (form.format == TranslationFormat::text) {
      lines += text_line(form, text, each);
    } else if (form.format == TranslationFormat::moses) {
      lines += moses_line(number, text, each, length);
    } else {
      lines += json_line(number, source, text, pieces_of(tokenizer, each), each, length);
    }
  }
  return lines;
}

}  // namespace ballast
