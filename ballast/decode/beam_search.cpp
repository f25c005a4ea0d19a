#include "ballast/decode/beam_search.h"

#include <algorithm>

#include "ballast/kernels/candidates.h"

namespace ballast {
namespace {

constexpr int64_t nothing = -1;

/// A token and the place of the one before it. Hypotheses with a common beginning share its links.
struct Link {
  int64_t before = nothing, token = 0;
};

/// A hypothesis that is being extended.
struct Live {
  int64_t last = nothing;  ///< place of its last link
  double log_probability = 0;
  int64_t row = 0;  ///< in the step that gave it its last token
};

struct Sentence {
  int64_t longest = 0;
  std::vector<Live> live;
  std::vector<Hypothesis> finished;
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
    while (next_.size(0) > 0) {
      advance();
      keep_live_rows();
    }
    std::vector<std::vector<Hypothesis>> results;
    for (Sentence& sentence : sentences_) results.push_back(std::move(sentence.finished));
    return results;
  }

 private:
  /// Feeds the last tokens and extends every live hypothesis by the best.
  void advance() {
    const torch::Tensor logits =
        model_.logits(model_.step(next_, state_)).to(torch::kFloat32).cpu();
    const std::vector<float> offsets = offsets_of(logits);
    const Segments& groups = state_.reading.readers;
    const auto best = best_candidates({logits, offsets, groups, excluded(), 2 * options_.beam});
    const torch::Tensor ends = logits.select(1, special_.end).contiguous();
    for (size_t i = 0; i < sentences_.size(); ++i) {
      Sentence& sentence = sentences_[i];
      if (state_.length < sentence.longest) {
        extend(sentence, best[i], groups.begin(i));
        continue;
      }
      for (size_t k = 0; k < sentence.live.size(); ++k) {
        const int64_t row = groups.begin(i) + static_cast<int64_t>(k);
        finish(sentence, sentence.live[k], offsets[row] + ends.data_ptr<float>()[row]);
      }
      sentence.live.clear();
    }
  }

  /// What makes a row's logits the log-probabilities of its hypothesis with each token.
  std::vector<float> offsets_of(const torch::Tensor& logits) const {
    const std::vector<double> normalizers = log_normalizers(logits);
    std::vector<float> offsets;
    for (const Sentence& sentence : sentences_) {
      for (const Live& live : sentence.live) {
        const double offset = live.log_probability - normalizers[offsets.size()];
        offsets.push_back(static_cast<float>(offset));
      }
    }
    return offsets;
  }

  std::vector<int64_t> excluded() const {
    std::vector<int64_t> tokens{special_.padding, special_.begin};
    if (state_.length == 1 && !options_.allow_empty) tokens.push_back(special_.end);
    return tokens;
  }

  void extend(Sentence& sentence, const std::vector<Candidate>& best, int64_t first_row) {
    std::vector<Live> longer;
    int64_t place = 0;
    for (const Candidate& candidate : best) {
      const Live& before = sentence.live[candidate.row - first_row];
      if (candidate.token == special_.end) {
        if (place < options_.beam) finish(sentence, before, candidate.score);
      } else if (static_cast<int64_t>(longer.size()) < options_.beam) {
        longer.push_back({static_cast<int64_t>(links_.size()), candidate.score, candidate.row});
        links_.push_back({before.last, candidate.token});
      }
      ++place;
    }
    sentence.live = has_won(sentence, longer) ? std::vector<Live>{} : std::move(longer);
  }

  /// True when the kept hypotheses are as many as asked for and no live one scores better now.
  bool has_won(const Sentence& sentence, const std::vector<Live>& live) const {
    if (static_cast<int64_t>(sentence.finished.size()) < options_.beam) return false;
    return std::none_of(live.begin(), live.end(), [&](const Live& each) {
      return hypothesis_score(each.log_probability, state_.length, options_) >
             sentence.finished.back().score;
    });
  }

  /// Adds a hypothesis to the best `beam` finished ones, best first.
  void finish(Sentence& sentence, const Live& before, double log_probability) const {
    sentence.finished.push_back({tokens_of(before), log_probability,
                                 hypothesis_score(log_probability, state_.length, options_)});
    rank(sentence.finished);
    if (static_cast<int64_t>(sentence.finished.size()) > options_.beam)
      sentence.finished.pop_back();
  }

  std::vector<int64_t> tokens_of(const Live& live) const {
    std::vector<int64_t> tokens;
    for (int64_t at = live.last; at != nothing; at = links_[at].before) {
      tokens.push_back(links_[at].token);
    }
    std::reverse(tokens.begin(), tokens.end());
    return tokens;
  }

  /// Makes the live hypotheses, with their new tokens, the rows of the next step.
  void keep_live_rows() {
    std::vector<int64_t> rows, tokens, readers;
    for (const Sentence& sentence : sentences_) {
      readers.push_back(static_cast<int64_t>(sentence.live.size()));
      for (const Live& live : sentence.live) {
        rows.push_back(live.row);
        tokens.push_back(links_[live.last].token);
      }
    }
    next_ = torch::tensor(tokens, torch::kInt64).to(next_.device());
    state_.select(torch::tensor(rows, torch::kInt64).to(next_.device()), readers);
  }

  const Transformer& model_;
  const DecodeOptions& options_;
  SpecialIds special_;
  std::vector<Sentence> sentences_;
  std::vector<Link> links_;
  DecodeState state_;
  torch::Tensor next_;  // last token of every live hypothesis
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model, const Packed& sources,
                                                 const DecodeOptions& options,
                                                 const SpecialIds& special) {
  const torch::NoGradGuard no_grad;
  return Search(model, sources, options, special).run();
}

}  // namespace ballast
