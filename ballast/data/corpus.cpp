#include "ballast/data/corpus.h"

#include <algorithm>
#include <future>
#include <limits>

#include "ballast/base/error.h"
#include "ballast/data/contexts.h"

namespace ballast {
namespace {

constexpr std::size_t encoding_threads = 2;

/// The ids of `texts`, without special pieces, by contiguous shares of the threads.
TokenLists encode_all(std::span<const std::string> texts, const Tokenizer& tokenizer,
                      const std::stop_token& stop) {
  const auto encode_share = [&](std::size_t share) {
    TokenLists lists;
    const std::size_t begin = texts.size() * share / encoding_threads;
    const std::size_t end = texts.size() * (share + 1) / encoding_threads;
    std::vector<int32_t> narrow;
    for (const std::string& text : texts.subspan(begin, end - begin)) {
      if (stop.stop_requested()) throw Stopped("stopped as asked");
      const auto ids = tokenizer.encode(text);
      narrow.assign(ids.begin(), ids.end());
      lists.add(narrow);
    }
    return lists;
  };
  std::vector<std::future<TokenLists>> shares;
  for (std::size_t share = 0; share < encoding_threads; ++share) {
    shares.push_back(std::async(std::launch::async, encode_share, share));
  }
  TokenLists all;
  for (auto& share : shares) {
    const TokenLists lists = share.get();
    for (int64_t i = 0; i < lists.count(); ++i) all.add(lists[i]);
  }
  return all;
}

/// Adds special pieces and applies the limit, pair by pair.
class PairBuilder {
 public:
  PairBuilder(const Tokenizers& tokenizers, const LengthLimit& limit)
      : source_end_(static_cast<int32_t>(tokenizers.source.end_id())),
        begin_(static_cast<int32_t>(tokenizers.target.begin_id())),
        end_(static_cast<int32_t>(tokenizers.target.end_id())),
        limit_(limit) {}

  void add(std::span<const int32_t> source, std::span<const int32_t> target) {
    const auto most = static_cast<std::size_t>(limit_.max_length - 1);
    const bool is_long = std::max(source.size(), target.size()) > most;
    if (source.empty() || target.empty()) {
      ++made_.dropped_empty;
    } else if (is_long && !limit_.truncate) {
      ++made_.dropped_long;
    } else {
      if (is_long) ++made_.truncated;
      append(source.first(std::min(source.size(), most)),
             target.first(std::min(target.size(), most)));
    }
  }

  EncodedCorpus take() { return std::move(made_); }

 private:
  void append(std::span<const int32_t> source, std::span<const int32_t> target) {
    sequence_.assign(source.begin(), source.end());
    sequence_.push_back(source_end_);
    made_.source.add(sequence_);
    sequence_.assign(1, begin_);
    sequence_.insert(sequence_.end(), target.begin(), target.end());
    sequence_.push_back(end_);
    made_.target.add(sequence_);
  }

  int32_t source_end_, begin_, end_;
  LengthLimit limit_;
  EncodedCorpus made_;
  std::vector<int32_t> sequence_;
};

}  // namespace

TokenLists::TokenLists(std::vector<int32_t> ids, std::vector<int64_t> ends)
    : ids_(std::move(ids)), ends_(std::move(ends)) {
  const auto all = static_cast<int64_t>(ids_.size());
  const bool rises = std::is_sorted(ends_.begin(), ends_.end());
  if (!rises || (ends_.empty() ? all != 0 : ends_.front() < 0 || ends_.back() != all)) {
    throw DataError("the ends of sequences do not fit their ids; build the corpus again");
  }
}

void TokenLists::add(std::span<const int32_t> sequence) {
  ids_.insert(ids_.end(), sequence.begin(), sequence.end());
  ends_.push_back(static_cast<int64_t>(ids_.size()));
}

int64_t EncodedCorpus::count() const { return contexts ? contexts->count() : target.count(); }

int64_t EncodedCorpus::target_tokens(int64_t i) const {
  return contexts ? contexts->tokens(i) : target.length(i) - 1;
}

EncodedCorpus encode(const ParallelText& text, const Tokenizers& tokenizers,
                     const LengthLimit& limit, const std::stop_token& stop) {
  const TokenLists sources = encode_all(text.source, tokenizers.source, stop);
  const TokenLists targets = encode_all(text.target, tokenizers.target, stop);
  PairBuilder builder(tokenizers, limit);
  for (int64_t i = 0; i < sources.count(); ++i) builder.add(sources[i], targets[i]);
  EncodedCorpus made = builder.take();
  made.dropped_empty += text.dropped_one_empty + text.dropped_both_empty;
  return made;
}

EncodedCorpus encode_stream(std::span<const std::string> lines, const Tokenizer& tokenizer,
                            int64_t context, const std::stop_token& stop) {
  const TokenLists encoded = encode_all(lines, tokenizer, stop);
  EncodedCorpus made;
  if (encoded.ids().empty()) return made;
  std::vector<int32_t> stream{static_cast<int32_t>(tokenizer.begin_id())};
  stream.reserve(1 + encoded.ids().size() + lines.size());
  for (int64_t i = 0; i < encoded.count(); ++i) {
    const auto line = encoded[i];
    stream.insert(stream.end(), line.begin(), line.end());
    stream.push_back(static_cast<int32_t>(tokenizer.end_id()));
  }
  const auto step = static_cast<std::size_t>(context);
  for (std::size_t begin = 0; begin + 1 < stream.size(); begin += step) {
    const std::size_t length = std::min(step + 1, stream.size() - begin);
    made.target.add(std::span(stream).subspan(begin, length));
  }
  return made;
}

}  // namespace ballast
