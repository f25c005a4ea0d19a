#include <fmt/format.h>
#include <unicode/normalizer2.h>

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "ballast/base/error.h"
#include "ballast/data/byte_alphabet.h"
#include "ballast/data/byte_pairs.h"
#include "ballast/data/text_splitter.h"
#include "ballast/data/tokenizer_model.h"

namespace ballast {
namespace {

struct Special {
  int64_t TokenIds::*id;
  std::vector<std::string_view> names;
};

// What GPT-2, Llama 3, Qwen, OLMo and RoBERTa call them.
const std::vector<Special> specials{
    {&TokenIds::pad, {"<pad>", "<|pad|>", "<|padding|>", "[PAD]"}},
    {&TokenIds::unknown, {"<unk>", "[UNK]"}},
    {&TokenIds::begin, {"<s>", "<|begin_of_text|>", "<|startoftext|>", "<bos>"}},
    {&TokenIds::end, {"</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>"}}};

uint64_t pair_of(int64_t left, int64_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right);
}

struct Merge {
  int64_t rank = 0, id = 0;
};

using Merges = std::unordered_map<uint64_t, Merge>;

/// The pieces of a word while neighbours are joined: a list of those that are left.
class Joining {
 public:
  Joining(const Merges& merges, std::vector<int64_t> ids) : merges_(merges), ids_(std::move(ids)) {
    const auto count = static_cast<int64_t>(ids_.size());
    for (int64_t i = 0; i < count; ++i) {
      before_.push_back(i - 1);
      after_.push_back(i + 1);
    }
    for (int64_t i = 0; i + 1 < count; ++i) propose(i);
  }

  void into(std::vector<int64_t>& found) {
    while (!waiting_.empty()) {
      const auto [rank, left, pair] = waiting_.top();
      waiting_.pop();
      if (ids_[left] >= 0 && after_[left] < size() && pair == pair_at(left)) join(left);
    }
    for (int64_t i = 0; i < size(); i = after_[i]) found.push_back(ids_[i]);
  }

 private:
  using Proposal = std::tuple<int64_t, int64_t, uint64_t>;  // rank, place, what stood there

  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  uint64_t pair_at(int64_t left) const { return pair_of(ids_[left], ids_[after_[left]]); }

  void propose(int64_t left) {
    const uint64_t pair = pair_at(left);
    if (const auto merge = merges_.find(pair); merge != merges_.end()) {
      waiting_.emplace(merge->second.rank, left, pair);
    }
  }

  void join(int64_t left) {
    const int64_t right = after_[left];
    ids_[left] = merges_.find(pair_at(left))->second.id;
    ids_[right] = -1;
    after_[left] = after_[right];
    if (after_[left] < size()) {
      before_[after_[left]] = left;
      propose(left);
    }
    if (before_[left] >= 0) propose(before_[left]);
  }

  const Merges& merges_;
  std::vector<int64_t> ids_;  // -1 for one that was joined to the one before
  std::vector<int64_t> before_, after_;
  std::priority_queue<Proposal, std::vector<Proposal>, std::greater<>> waiting_;
};

std::string normalized(std::string_view text, const std::string& form) {
  UErrorCode status = U_ZERO_ERROR;
  const bool compatible = form.starts_with("NFK");
  const auto* normalizer =
      icu::Normalizer2::getInstance(nullptr, compatible ? "nfkc" : "nfc",
                                    form.back() == 'C' ? UNORM2_COMPOSE : UNORM2_DECOMPOSE, status);
  std::string made;
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&made);
    normalizer->normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr,
                              status);
  }
  if (U_FAILURE(status)) throw DataError(fmt::format("{}: {}", form, u_errorName(status)));
  return made;
}

class BytePairModel : public TokenizerModel {
 public:
  BytePairModel(std::string serialized, const std::string& name)
      : given_(parse_tokenizer_json(serialized, name)) {
    serialized_ = std::move(serialized);
    for (const auto& [bytes, id] : given_.ids) add(id, {bytes, PieceKind::normal}, name);
    for (const auto& each : given_.added) {
      add(each.id, {each.text, each.special ? PieceKind::control : PieceKind::normal}, name);
    }
    find_specials();
    number_bytes(name);
    number_merges(name);
    for (const std::string& pattern : given_.patterns) splitters_.emplace_back(pattern);
    separate_added();
  }

  std::vector<int64_t> encode(std::string_view text) const override {
    std::vector<int64_t> ids;
    const std::string normal =
        given_.normal_form.empty() ? std::string() : normalized(text, given_.normal_form);
    if (!given_.normal_form.empty()) text = normal;
    std::vector<std::string_view> parts{text};
    split(parts, whole_texts_);
    for (const std::string_view part : parts) {
      if (const auto whole = whole_.find(std::string(part)); whole != whole_.end()) {
        ids.push_back(whole->second);
      } else {
        encode_part(part, ids);
      }
    }
    return ids;
  }

  std::string decode(std::span<const int64_t> ids) const override {
    std::string text;
    for (const int64_t id : ids) {
      const Entry& piece = pieces_[static_cast<std::size_t>(id)];
      if (piece.kind == PieceKind::normal) text += piece.bytes;
      if (piece.kind == PieceKind::unknown) text += " \u2047 ";
    }
    return text;
  }

  Piece piece(int64_t id) const override {
    const Entry& found = pieces_[static_cast<std::size_t>(id)];
    const bool spelled = found.kind == PieceKind::normal;
    return {spelled ? in_byte_alphabet(found.bytes) : found.bytes, 0, found.kind};
  }

 private:
  struct Entry {
    std::string bytes;
    PieceKind kind = PieceKind::unused;
  };

  void add(int64_t id, Entry entry, const std::string& name) {
    if (id >= std::ssize(pieces_)) pieces_.resize(static_cast<std::size_t>(id) + 1);
    Entry& place = pieces_[static_cast<std::size_t>(id)];
    if (place.kind != PieceKind::unused && place.bytes != entry.bytes) {
      throw DataError(fmt::format("{}: \"{}\" and \"{}\" have the number {}; expected one piece",
                                  name, place.bytes, entry.bytes, id));
    }
    place = std::move(entry);
  }

  void find_specials() {
    ids_.size = std::ssize(pieces_);
    const auto id_of = [&](std::string_view text) {
      const auto at = std::ranges::find(pieces_, text, &Entry::bytes);
      return at == pieces_.end() ? -1 : at - pieces_.begin();
    };
    for (const Special& special : specials) {
      for (const std::string_view text : special.names) {
        if (ids_.*special.id < 0) ids_.*special.id = id_of(text);
      }
    }
    if (ids_.unknown < 0 && !given_.unknown.empty()) ids_.unknown = id_of(given_.unknown);
    for (const int64_t id : {ids_.pad, ids_.begin, ids_.end}) {
      if (id >= 0) pieces_[static_cast<std::size_t>(id)].kind = PieceKind::control;
    }
    if (ids_.unknown >= 0) {
      pieces_[static_cast<std::size_t>(ids_.unknown)].kind = PieceKind::unknown;
    }
    if (ids_.begin < 0) ids_.begin = ids_.end;  // as GPT-2 begins
  }

  void number_bytes(const std::string& name) {
    int64_t missing = 0;
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
      const auto found = given_.ids.find(std::string(1, static_cast<char>(byte)));
      bytes_[byte] = found == given_.ids.end() ? ids_.unknown : found->second;
      missing += bytes_[byte] < 0 ? 1 : 0;
    }
    if (missing == 0) return;
    throw DataError(fmt::format(
        "{}: {} of the 256 bytes have no piece, and there is no unknown piece; expected every "
        "byte, as a training with initial_alphabet = ByteLevel.alphabet() gives",
        name, missing));
  }

  void number_merges(const std::string& name) {
    for (const auto& [left, right] : given_.merges) {
      const auto rank = static_cast<int64_t>(merges_.size());
      const auto one = given_.ids.find(left), other = given_.ids.find(right),
                 both = given_.ids.find(left + right);
      for (const auto& found : {one, other, both}) {
        if (found != given_.ids.end()) continue;
        throw DataError(
            fmt::format("{}: merge {}, of \"{}\" and \"{}\", has a piece or gives one "
                        "that is not in the vocabulary; expected files of one model",
                        name, rank + 1, in_byte_alphabet(left), in_byte_alphabet(right)));
      }
      merges_.try_emplace(pair_of(one->second, other->second), Merge{rank, both->second});
    }
  }

  /// Longer ones first, so that none is hidden by its beginning.
  void separate_added() {
    std::vector<std::string> texts;
    for (const auto& each : given_.added) {
      if (pieces_[static_cast<std::size_t>(each.id)].kind != PieceKind::normal) continue;
      whole_.emplace(each.text, each.id);
      texts.push_back(each.text);
    }
    std::ranges::sort(texts, std::greater<>(), &std::string::size);
    std::string pattern;
    for (const std::string& text : texts) {
      pattern += fmt::format("{}\\Q{}\\E", pattern.empty() ? "" : "|", text);
    }
    if (!pattern.empty()) whole_texts_.emplace_back(pattern);
  }

  static void split(std::vector<std::string_view>& parts,
                    const std::vector<TextSplitter>& splitters) {
    for (const TextSplitter& splitter : splitters) {
      std::vector<std::string_view> finer;
      for (const std::string_view part : parts) {
        const auto cut = splitter(part);
        finer.insert(finer.end(), cut.begin(), cut.end());
      }
      parts = std::move(finer);
    }
  }

  void encode_part(std::string_view text, std::vector<int64_t>& ids) const {
    std::string spaced;
    if (given_.adds_space && !text.empty() && text.front() != ' ') {
      text = spaced = ' ' + std::string(text);
    }
    std::vector<std::string_view> words{text};
    split(words, splitters_);
    for (const std::string_view word : words) encode_word(word, ids);
  }

  void encode_word(std::string_view word, std::vector<int64_t>& ids) const {
    if (given_.whole_words) {
      if (const auto whole = given_.ids.find(std::string(word)); whole != given_.ids.end()) {
        ids.push_back(whole->second);
        return;
      }
    }
    std::vector<int64_t> bytes;
    bytes.reserve(word.size());
    for (const char byte : word) bytes.push_back(bytes_[static_cast<unsigned char>(byte)]);
    if (merges_.empty()) {
      ids.insert(ids.end(), bytes.begin(), bytes.end());
    } else {
      Joining(merges_, std::move(bytes)).into(ids);
    }
  }

  BytePairs given_;
  std::vector<Entry> pieces_;
  std::array<int64_t, 256> bytes_{};
  Merges merges_;
  std::vector<TextSplitter> splitters_, whole_texts_;
  std::unordered_map<std::string, int64_t> whole_;
};

}  // namespace

std::shared_ptr<const TokenizerModel> byte_pair_model(std::string serialized,
                                                      const std::string& name) {
  return std::make_shared<BytePairModel>(std::move(serialized), name);
}

}  // namespace ballast
