#include "ballast/train/continuations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/data/contexts.h"
#include "ballast/data/parallel_text.h"
#include "ballast/data/text.h"
#include "ballast/metrics/unicode.h"
#include "ballast/train/text_evaluation.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

bool is_text(const Json& json) {
  return json.is_string() && !json.get_ref<const std::string&>().empty();
}

bool is_list_of_texts(const Json& json) {
  return json.is_array() && !json.empty() && std::ranges::all_of(json, is_text);
}

/// The item that an object of JSON is; nothing when it is none.
std::optional<ContinuationItem> item_of(const Json& json) {
  if (!json.is_object() || !json.contains("context") || !json["context"].is_string()) return {};
  const bool has_one = json.contains("continuation"), has_list = json.contains("continuations");
  ContinuationItem item{.context = json["context"], .is_list = has_list};
  if (has_one && !has_list && is_text(json["continuation"])) {
    item.continuations = {json["continuation"]};
    return item;
  }
  if (has_list && !has_one && is_list_of_texts(json["continuations"])) {
    item.continuations = json["continuations"];
    return item;
  }
  return {};
}

}  // namespace

std::vector<ContinuationItem> read_continuations(const std::filesystem::path& file) {
  std::vector<ContinuationItem> items;
  LineReader reader(file);
  while (const auto line = reader.next()) {
    if (is_blank(*line)) continue;
    auto item = item_of(Json::parse(*line, nullptr, /*allow_exceptions=*/false));
    if (!item) {
      throw DataError(fmt::format(
          "{}:{}: is no item; expected a line of JSON such as {{\"context\": \"...\", "
          "\"continuation\": \"...\"}} or with \"continuations\": [\"...\", ...], none of them "
          "empty",
          reader.name(), reader.line()));
    }
    items.push_back(std::move(*item));
  }
  if (items.empty()) throw DataError(fmt::format("{}: has no items", reader.name()));
  return items;
}

EncodedContinuation encode_continuation(const Tokenizer& tokenizer, std::optional<int64_t> begin,
                                        const std::string& context, const std::string& continuation,
                                        int64_t longest) {
  const std::u32string points = code_points(context);
  EncodedContinuation made{tokenizer.encode(utf8(trim_end(points)))};
  const std::vector<int64_t> whole = tokenizer.encode(context + continuation);
  const auto before = std::min(made.ids.size(), whole.size());
  made.scored = static_cast<int64_t>(whole.size() - before);
  if (begin) made.ids.insert(made.ids.begin(), *begin);
  made.ids.insert(made.ids.end(), whole.begin() + static_cast<std::ptrdiff_t>(before), whole.end());
  if (made.scored > longest) {
    throw DataError(fmt::format(
        "the continuation has {} tokens; expected at most {}, which the model reads at once",
        made.scored, longest));
  }
  if (made.scored > 0 && made.scored == std::ssize(made.ids)) {
    throw DataError(
        "the context is empty, and the vocabulary has no piece that begins a text; give a context");
  }
  made.cut = std::max<int64_t>(std::ssize(made.ids) - longest - 1, 0);
  made.ids.erase(made.ids.begin(), made.ids.begin() + made.cut);
  return made;
}

std::vector<std::vector<ContinuationScore>> score_continuations(
    Transformer& model, const Tokenizer& tokenizer, const std::vector<ContinuationItem>& items,
    int64_t longest, int64_t batch_tokens) {
  std::vector<EncodedContinuation> encoded;
  std::vector<std::vector<ContinuationScore>> scores(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    try {
      for (const std::string& text : items[i].continuations) {
        encoded.push_back(encode_continuation(tokenizer, begin_piece(tokenizer), items[i].context,
                                              text, longest));
        scores[i].push_back({.bytes = std::ssize(text),
                             .characters = std::ssize(code_points(text)),
                             .cut = encoded.back().cut});
      }
    } catch (const DataError& error) {
      throw DataError(fmt::format("item {}: {}", i + 1, error.what()));
    }
  }
  std::vector<Window> windows;
  for (const EncodedContinuation& each : encoded) windows.push_back({each.ids, each.scored});
  const WindowScores found =
      score_windows(model, windows, {.batch_tokens = batch_tokens, .greedy = true});
  auto next = found.windows.begin();
  for (auto& of_item : scores) {
    for (ContinuationScore& each : of_item) each.score = *next++;
  }
  return scores;
}

}  // namespace ballast
