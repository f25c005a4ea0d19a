#include "ballast/data/contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/base/philox.h"
#include "ballast/base/scatter.h"

namespace ballast {

std::optional<int64_t> begin_piece(const Tokenizer& tokenizer) {
  if (tokenizer.begin_id() >= 0) return tokenizer.begin_id();
  if (tokenizer.end_id() >= 0) return tokenizer.end_id();
  return std::nullopt;
}

Contexts::Contexts(TokenStream stream, Packing packing)
    : stream_(std::move(stream)), packing_(std::move(packing)) {
  if (stream_.text_ids() == 0) return;
  if (packing_.mixture.empty()) {
    add_part(0, stream_.size());
  } else {
    int64_t begin = 0;
    for (int64_t f = 0; f < stream_.files(); ++f) {
      add_part(begin, stream_.file_end(f));
      begin = stream_.file_end(f);
      if (parts_.back().contexts > 0) continue;
      throw DataError(fmt::format(
          "data.mixture: file {} of data.train has no text; take it out, with its weight", f + 1));
    }
  }
  share_out();
}

void Contexts::add_part(int64_t begin, int64_t end) {
  // Without a piece to begin with, the first id of what may be attended to is an input only.
  if (packing_.crosses_documents && !packing_.begin) ++begin;
  const int64_t tokens = std::max<int64_t>(end - begin, 0);
  const int64_t contexts = (tokens + packing_.context - 1) / packing_.context;
  parts_.push_back({.begin = begin, .end = end, .first = count_, .contexts = contexts});
  count_ += contexts;
}

void Contexts::share_out() {
  const auto& weights = packing_.mixture;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double before = 0;
  int64_t first = 0;
  for (std::size_t f = 0; f < parts_.size(); ++f) {
    // Rounded sums: what is lost in one file is won in the next.
    before += weights.empty() ? 0 : weights[f];
    const int64_t end = f + 1 == parts_.size()
                            ? count_
                            : std::llround(static_cast<double>(count_) * (before / sum));
    parts_[f].first_drawn = first;
    parts_[f].drawn = end - first;
    first = end;
  }
}

const Contexts::Part& Contexts::part_of(int64_t k) const {
  const auto next = std::ranges::upper_bound(parts_, k, {}, &Part::first);
  return *std::prev(next);
}

int64_t Contexts::tokens(int64_t k) const {
  const Part& part = part_of(k);
  const int64_t begin = part.begin + (k - part.first) * packing_.context;
  return std::min(packing_.context, part.end - begin);
}

std::optional<ContextPiece> Contexts::piece(int64_t begin, int64_t end, int64_t document) const {
  const bool is_start = begin == document;
  if (is_start && !packing_.begin) ++begin;
  if (begin >= end) return std::nullopt;
  const int64_t before = is_start && packing_.begin ? *packing_.begin : stream_[begin - 1];
  return ContextPiece{before, begin, end};
}

std::vector<ContextPiece> Contexts::pieces(int64_t k) const {
  const Part& part = part_of(k);
  const int64_t begin = part.begin + (k - part.first) * packing_.context;
  const int64_t end = std::min(begin + packing_.context, part.end);
  if (packing_.crosses_documents) {
    const bool is_start = begin == part.begin && packing_.begin;
    return {{is_start ? *packing_.begin : stream_[begin - 1], begin, end}};
  }
  std::vector<ContextPiece> pieces;
  int64_t document = stream_.document_at(begin), place = 0;
  for (int64_t at = begin; at < end; ++document) {
    const int64_t border = std::min(stream_.document_end(document), end);
    if (auto found = piece(at, border, stream_.document_begin(document))) {
      if (packing_.positions_go_on) found->place = place;
      place += found->size();
      pieces.push_back(*found);
    }
    at = border;
  }
  return pieces;
}

int64_t Contexts::per_batch(const BatchLimits& limits) const {
  const int64_t fitting = limits.tokens / packing_.context;
  if (fitting == 0) {
    throw DataError(fmt::format(
        "a context has {} tokens, but a batch may have {}; raise the tokens of a batch, or lower "
        "data.context",
        packing_.context, limits.tokens));
  }
  return limits.max_sequences > 0 ? std::min(fitting, limits.max_sequences) : fitting;
}

int64_t Contexts::batches(const BatchLimits& limits) const {
  const int64_t size = per_batch(limits);
  return (count_ + size - 1) / size;
}

int64_t Contexts::drawn_at(int64_t place, uint64_t seed, int64_t epoch) const {
  const uint64_t key = mix(seed, key_of("contexts"));
  const int64_t slot = scattered(place, count_, mix(key, static_cast<uint64_t>(epoch)));
  const auto next = std::ranges::upper_bound(parts_, slot, {}, &Part::first_drawn);
  const Part& part = *std::prev(next);
  const int64_t taken = epoch * part.drawn + (slot - part.first_drawn);
  const uint64_t round = mix(mix(key, static_cast<uint64_t>(part.first) + 1),
                             static_cast<uint64_t>(taken / part.contexts));
  return part.first + scattered(taken % part.contexts, part.contexts, mix(round, key_of("file")));
}

std::vector<int64_t> Contexts::drawn(const BatchLimits& limits, uint64_t seed,
                                     const Position& at) const {
  const int64_t size = per_batch(limits);
  const int64_t begin = at.batch * size, end = std::min(begin + size, count_);
  std::vector<int64_t> contexts;
  for (int64_t place = begin; place < end; ++place) {
    contexts.push_back(drawn_at(place, seed, at.epoch));
  }
  return contexts;
}

EncodedCorpus as_lists(const Contexts& contexts) {
  EncodedCorpus made;
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < contexts.count(); ++k) {
    for (const ContextPiece& piece : contexts.pieces(k)) {
      ids.resize(static_cast<std::size_t>(piece.size()) + 1);
      ids.front() = piece.before;
      contexts.stream().copy(piece.begin, piece.end, ids.data() + 1);
      made.target.add(std::vector<int32_t>(ids.begin(), ids.end()));
    }
  }
  return made;
}

}  // namespace ballast
