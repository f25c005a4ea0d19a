#include "ballast/decode/beam_search.h"

#include <algorithm>
#include <limits>

namespace ballast {
namespace {

constexpr float impossible = -std::numeric_limits<float>::infinity();

/// One continuation of one hypothesis.
struct Candidate {
  int64_t row = 0;  ///< in the batch of live hypotheses
  int64_t token = 0;
  double log_probability = 0;
};

/// A hypothesis that is being extended.
struct Live {
  std::vector<int64_t> tokens;
  double log_probability = 0;
};

struct Sentence {
  int64_t longest = 0;
  std::vector<Live> live;
  std::vector<Hypothesis> finished;
  bool done = false;
};

class Search {
 public:
  Search(const Transformer& model, const Packed& sources, const DecodeOptions& options,
         const SpecialIds& special)
      : model_(model), options_(options), special_(special) {
    for (const int64_t length : sources.segments.lengths()) {
      sentences_.push_back({.longest = longest_output(length, options), .live = {Live{}}});
    }
    state_ = model.start(model.encode(sources), 1);
    next_ = torch::full({sources.segments.count()}, special.begin, sources.tokens.options());
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (next_.size(0) > 0) advance();
    std::vector<std::vector<Hypothesis>> results;
    for (Sentence& sentence : sentences_) results.push_back(std::move(sentence.finished));
    return results;
  }

 private:
  /// Feeds the last tokens, extends every live hypothesis and keeps the best.
  void advance() {
    const torch::Tensor log_p = log_probabilities();
    kept_rows_.clear();
    tokens_.clear();
    readers_.clear();
    int64_t first_row = 0;
    for (Sentence& sentence : sentences_) {
      const auto rows = static_cast<int64_t>(sentence.live.size());
      if (rows > 0) extend(sentence, first_row, log_p.slice(0, first_row, first_row + rows));
      first_row += rows;
      readers_.push_back(static_cast<int64_t>(sentence.live.size()));
    }
    next_ = torch::tensor(tokens_, torch::kInt64).to(next_.device());
    state_.select(torch::tensor(kept_rows_, torch::kInt64).to(next_.device()), readers_);
  }

  torch::Tensor log_probabilities() {
    const torch::Tensor hidden = model_.step(next_, state_);
    torch::Tensor log_p = torch::log_softmax(model_.logits(hidden).to(torch::kFloat32), -1);
    log_p.select(1, special_.padding).fill_(impossible);
    log_p.select(1, special_.begin).fill_(impossible);
    if (state_.length == 1 && !options_.allow_empty) {
      log_p.select(1, special_.end).fill_(impossible);
    }
    return log_p.cpu();
  }

  void extend(Sentence& sentence, int64_t first_row, const torch::Tensor& log_p) {
    std::vector<Live> longer;
    const bool at_limit = state_.length >= sentence.longest;
    int64_t place = 0;
    for (const Candidate& candidate : at_limit ? endings(sentence, log_p) : best(sentence, log_p)) {
      const Live& before = sentence.live[candidate.row];
      if (candidate.token == special_.end) {
        if (place < options_.beam) finish(sentence, before, candidate.log_probability);
      } else if (static_cast<int64_t>(longer.size()) < options_.beam) {
        longer.push_back({before.tokens, candidate.log_probability});
        longer.back().tokens.push_back(candidate.token);
        rows_of_longer_.push_back(first_row + candidate.row);
      }
      ++place;
    }
    const bool done = at_limit || has_won(sentence, longer);
    sentence.live = done ? std::vector<Live>{} : std::move(longer);
    for (size_t i = 0; i < sentence.live.size(); ++i) {
      kept_rows_.push_back(rows_of_longer_[i]);
      tokens_.push_back(sentence.live[i].tokens.back());
    }
    rows_of_longer_.clear();
  }

  /// The best 2 beam continuations of a sentence's hypotheses, best first.
  std::vector<Candidate> best(const Sentence& sentence, const torch::Tensor& log_p) const {
    const int64_t classes = log_p.size(1);
    std::vector<double> so_far;
    for (const Live& live : sentence.live) so_far.push_back(live.log_probability);
    const torch::Tensor totals = log_p + torch::tensor(so_far, torch::kFloat32).unsqueeze(1);
    const int64_t wanted = std::min(2 * options_.beam, totals.numel());
    const auto [values, places] = totals.flatten().topk(wanted);
    std::vector<Candidate> candidates;
    for (int64_t i = 0; i < wanted; ++i) {
      const auto place = places[i].item<int64_t>();
      const double value = values[i].item<float>();
      if (value != impossible) candidates.push_back({place / classes, place % classes, value});
    }
    return candidates;
  }

  std::vector<Candidate> endings(const Sentence& sentence, const torch::Tensor& log_p) const {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < sentence.live.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const double end = log_p[row][special_.end].item<float>();
      candidates.push_back({row, special_.end, sentence.live[i].log_probability + end});
    }
    return candidates;
  }

  /// True when the kept hypotheses are as many as asked for and no live one scores better now.
  bool has_won(const Sentence& sentence, const std::vector<Live>& live) const {
    if (static_cast<int64_t>(sentence.finished.size()) < options_.beam) return false;
    return std::none_of(live.begin(), live.end(), [&](const Live& each) {
      const auto length = static_cast<int64_t>(each.tokens.size());
      return hypothesis_score(each.log_probability, length, options_) >
             sentence.finished.back().score;
    });
  }

  /// Adds a hypothesis to the best `beam` finished ones, best first.
  void finish(Sentence& sentence, const Live& before, double log_probability) const {
    const auto length = static_cast<int64_t>(before.tokens.size()) + 1;
    sentence.finished.push_back(
        {before.tokens, log_probability, hypothesis_score(log_probability, length, options_)});
    rank(sentence.finished);
    if (static_cast<int64_t>(sentence.finished.size()) > options_.beam)
      sentence.finished.pop_back();
  }

  const Transformer& model_;
  const DecodeOptions& options_;
  SpecialIds special_;
  std::vector<Sentence> sentences_;
  DecodeState state_;
  torch::Tensor next_;  // last token of every live hypothesis
  std::vector<int64_t> kept_rows_, tokens_, readers_, rows_of_longer_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model, const Packed& sources,
                                                 const DecodeOptions& options,
                                                 const SpecialIds& special) {
  const torch::NoGradGuard no_grad;
  const PrecisionScope products(model.context(), options.precision);
  return Search(model, sources, options, special).run();
}

}  // namespace ballast
