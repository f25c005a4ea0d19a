#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "ballast/base/error.h"
#include "ballast/data/tokenizer_model.h"

namespace ballast {
namespace {

constexpr std::string_view spaces = " \t\r\v\f";
constexpr std::string_view unknown_mark = "\u2047";

/// A special word: where its id is kept, and what files call it, in order of preference.
struct Special {
  int64_t TokenIds::*id;
  std::array<std::string_view, 2> names;
};

// The order is the one in which fairseq puts them before the words of its files.
constexpr std::array<Special, 4> specials{{{&TokenIds::begin, {"<s>", "<bos>"}},
                                           {&TokenIds::pad, {"<pad>", "<blank>"}},
                                           {&TokenIds::end, {"</s>", "<eos>"}},
                                           {&TokenIds::unknown, {"<unk>", "<UNK>"}}}};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find_first_of(spaces)));
    line.remove_prefix(words.back().size());
  }
}

bool is_count(std::string_view word) {
  return word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool all_have_counts(std::span<const std::string> lines) {
  return std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    const auto words = words_of(line);
    return words.size() == 2 && is_count(words[1]);
  });
}

/// The words of a file, in its order.
std::vector<std::string> listed(std::span<const std::string> lines, const std::string& name) {
  if (lines.empty()) {
    throw DataError(fmt::format("{}: there is no word; expected one a line", name));
  }
  if (lines.size() > static_cast<std::size_t>(std::numeric_limits<int32_t>::max() - 4)) {
    throw DataError(fmt::format("{}: {} words; expected fewer than 2^31", name, lines.size()));
  }
  const std::size_t columns = all_have_counts(lines) ? 2 : 1;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = words_of(lines[i]);
    if (found.size() != columns) {
      throw DataError(
          fmt::format("{}:{}: the line has {} words; expected one a line, or on every "
                      "line a word and its count",
                      name, i + 1, found.size()));
    }
    words.emplace_back(found.front());
  }
  return words;
}

class WordModel : public TokenizerModel {
 public:
  WordModel(std::span<const std::string> lines, const std::string& name)
      : words_(listed(lines, name)) {
    number(name, 0);
    std::vector<std::string> missing;
    for (const Special& special : specials) {
      ids_.*special.id = found(special);
      if (ids_.*special.id < 0) missing.emplace_back(special.names.front());
    }
    if (!missing.empty()) {
      words_.insert(words_.begin(), missing.begin(), missing.end());
      number(name, missing.size());
      for (const Special& special : specials) ids_.*special.id = found(special);
    }
    ids_.size = static_cast<int64_t>(words_.size());
    for (const std::string& word : words_) serialized_ += word + '\n';
  }

  std::vector<int64_t> encode(std::string_view text) const override {
    std::vector<int64_t> ids;
    for (const std::string_view word : words_of(text)) {
      const auto at = numbers_.find(word);
      const bool ordinary = at != numbers_.end() && !is_control(at->second);
      ids.push_back(ordinary ? at->second : ids_.unknown);
    }
    return ids;
  }

  std::string decode(std::span<const int64_t> ids) const override {
    std::string text;
    for (const int64_t id : ids) {
      if (is_control(id)) continue;
      if (!text.empty()) text += ' ';
      text += id == ids_.unknown ? unknown_mark : words_[static_cast<std::size_t>(id)];
    }
    return text;
  }

  Piece piece(int64_t id) const override {
    const PieceKind kind = is_control(id)       ? PieceKind::control
                           : id == ids_.unknown ? PieceKind::unknown
                                                : PieceKind::normal;
    return {words_[static_cast<std::size_t>(id)], 0, kind};
  }

 private:
  bool is_control(int64_t id) const { return id == ids_.pad || id == ids_.begin || id == ids_.end; }

  int64_t found(const Special& special) const {
    for (const std::string_view name : special.names) {
      if (const auto at = numbers_.find(name); at != numbers_.end()) return at->second;
    }
    return -1;
  }

  /// Gives every word its place as id; `before` words in front are in no file.
  void number(const std::string& name, std::size_t before) {
    numbers_.clear();
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto [at, is_new] = numbers_.emplace(words_[i], static_cast<int64_t>(i));
      if (is_new) continue;
      throw DataError(fmt::format(
          "{}:{}: \"{}\" is there already, in line {}; expected every word "
          "once",
          name, i + 1 - before, words_[i], static_cast<std::size_t>(at->second) + 1 - before));
    }
  }

  std::vector<std::string> words_;
  std::unordered_map<std::string_view, int64_t> numbers_;
};

}  // namespace

std::shared_ptr<const TokenizerModel> word_model(std::span<const std::string> lines,
                                                 const std::string& name) {
  return std::make_shared<WordModel>(lines, name);
}

}  // namespace ballast
