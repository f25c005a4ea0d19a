#include "ballast/data/masking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/data/batch_plan.h"

namespace ballast {
namespace {

constexpr std::array<std::string_view, 2> mask_names{"<mask>", "[MASK]"};

// SentencePiece's space, that of GPT-2's byte alphabet, a space, and the byte of one.
constexpr std::array<std::string_view, 4> spaces{"\u2581", "\u0120", " ", "<0x20>"};

bool begins_with_space(std::string_view piece) {
  return std::ranges::any_of(spaces,
                             [&](std::string_view space) { return piece.starts_with(space); });
}

/// Places [first, first + count) of a sequence that are hidden together.
struct Word {
  int64_t first = 0, count = 0;
};

uint64_t key_of_sequence(uint64_t key, std::span<const int64_t> ids) {
  for (const int64_t id : ids) key = mix(key, static_cast<uint64_t>(id));
  return key;
}

double unit(uint32_t bits) { return static_cast<double>(bits) * 0x1p-32; }

}  // namespace

int64_t mask_id(const Tokenizer& tokenizer) {
  for (int64_t id = 0; id < tokenizer.size(); ++id) {
    if (std::ranges::count(mask_names, tokenizer.piece(id).text) > 0) return id;
  }
  return tokenizer.size();
}

MaskableVocabulary maskable(const Tokenizer& tokenizer) {
  MaskableVocabulary made{.mask = mask_id(tokenizer)};
  const auto size = static_cast<std::size_t>(std::max(tokenizer.size(), made.mask + 1));
  made.is_ordinary.resize(size);
  made.begins_word.resize(size);
  for (int64_t id = 0; id < tokenizer.size(); ++id) {
    const Piece piece = tokenizer.piece(id);
    const bool is_text = piece.kind == PieceKind::normal || piece.kind == PieceKind::byte;
    if (!is_text || id == made.mask) continue;
    made.is_ordinary[id] = true;
    made.ordinary.push_back(id);
    made.begins_word[id] = begins_with_space(piece.text);
  }
  if (std::ranges::count(made.begins_word, true) == 0) made.begins_word = made.is_ordinary;
  return made;
}

Masking::Masking(const MaskingOptions& options, MaskableVocabulary vocabulary, uint64_t seed)
    : options_(options), vocabulary_(std::move(vocabulary)), seed_(seed) {
  const std::string refusal = refusal_of(options);
  if (!refusal.empty()) throw RecipeError(refusal);
}

uint64_t Masking::key_of_pass(std::optional<int64_t> pass) const {
  if (!pass) return key_of("masking of an evaluation");
  const int64_t pattern = options_.patterns > 0 ? *pass % options_.patterns : *pass;
  return mix(mix(seed_, key_of("masking")), static_cast<uint64_t>(pattern));
}

std::vector<int64_t> Masking::chosen(std::span<const int64_t> ids, uint64_t key) const {
  std::vector<Word> words;
  int64_t candidates = 0;
  bool is_open = false;
  for (int64_t place = 0; place < std::ssize(ids); ++place) {
    const int64_t id = ids[place];
    const bool goes_on = is_open && options_.whole_words && !vocabulary_.begins_word[id];
    is_open = vocabulary_.is_ordinary[id];
    if (!is_open) continue;
    ++candidates;
    if (goes_on) {
      ++words.back().count;
    } else {
      words.push_back({place, 1});
    }
  }
  int64_t left =
      candidates == 0 ? 0 : std::max<int64_t>(1, std::llround(options_.share * candidates));
  std::vector<int64_t> places;
  for (const int64_t i : permutation(std::ssize(words), mix(key, key_of("words")))) {
    if (left == 0) break;
    if (words[i].count > left) continue;
    for (int64_t k = 0; k < words[i].count; ++k) places.push_back(words[i].first + k);
    left -= words[i].count;
  }
  std::ranges::sort(places);
  return places;
}

int64_t Masking::shown(int64_t id, uint64_t key, int64_t place) const {
  const auto random = philox(mix(key, key_of("pieces")), static_cast<uint64_t>(place));
  const double drawn = unit(random[0]);
  if (drawn < options_.masked) return vocabulary_.mask;
  if (drawn >= options_.masked + options_.random) return id;
  const auto count = static_cast<uint64_t>(vocabulary_.ordinary.size());
  return vocabulary_.ordinary[(static_cast<uint64_t>(random[1]) * count) >> 32];
}

Batch Masking::masked(Batch batch, std::optional<int64_t> pass) const {
  const Segments& segments = batch.target_input.segments;
  const torch::Tensor tokens = batch.target_input.tokens.clone();
  auto* ids = tokens.data_ptr<int64_t>();
  std::vector<int64_t> rows, targets;
  for (int64_t i = 0; i < segments.count(); ++i) {
    int64_t* own = ids + segments.begin(i);
    const std::span<const int64_t> sequence(own, static_cast<std::size_t>(segments.length(i)));
    const uint64_t key = key_of_sequence(key_of_pass(pass), sequence);
    for (const int64_t place : chosen(sequence, key)) {
      rows.push_back(segments.begin(i) + place);
      targets.push_back(own[place]);
      own[place] = shown(own[place], key, place);
    }
  }
  batch.target_input.tokens = tokens;
  batch.predicted = torch::tensor(rows, torch::kInt64);
  batch.target_output = torch::tensor(targets, torch::kInt64);
  batch.tokens = std::ssize(targets);
  return batch;
}

}  // namespace ballast
