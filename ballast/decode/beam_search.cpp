#include "ballast/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ballast/decode/ensemble.h"
#include "ballast/decode/repeats.h"
#include "ballast/decode/sampling.h"
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
  int64_t row = 0;     ///< in the step that gave it its last token
  int64_t sample = 0;  ///< which of its sentence's draws
};

struct Sentence {
  int64_t number = 0;
  int64_t shortest = 0, longest = 0;  ///< without the end piece, and with it
  std::vector<Live> live;
  std::vector<Hypothesis> finished;
};

/// What a step knows of its hypotheses' continuations.
struct Step {
  torch::Tensor logits;        // [B, V]
  std::vector<float> offsets;  // what makes a row's logits log-probabilities of whole hypotheses
  std::vector<int64_t> excluded;
  std::vector<std::vector<int64_t>> forbidden;

  float score(int64_t row, int64_t token) const {
    return offsets[row] + logits.data_ptr<float>()[row * logits.size(1) + token];
  }
};

class Search {
 public:
  Search(const SearchInputs& inputs, const DecodeOptions& options, const SpecialIds& special)
      : options_(options),
        special_(special),
        sampling_(std::get_if<RandomSampling>(&options.search)),
        first_live_(sampling_ != nullptr ? options.width() : 1),
        ensemble_(inputs.models, inputs.sources, first_live_) {
    const Segments& segments = inputs.sources.segments;
    const int64_t last_position = longest_sequence(inputs.models);
    for (int64_t i = 0; i < segments.count(); ++i) {
      add_sentence(inputs.numbers.empty() ? i : inputs.numbers[i], segments.length(i),
                   last_position);
    }
    next_ = torch::full({segments.count() * first_live_}, special.begin,
                        inputs.sources.tokens.options());
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
  void add_sentence(int64_t number, int64_t source_length, int64_t last_position) {
    Sentence sentence{.number = number};
    sentence.longest = std::min(longest_output(source_length, options_), last_position);
    sentence.shortest = std::min(shortest_output(source_length, options_), sentence.longest - 1);
    for (int64_t i = 0; i < first_live_; ++i) sentence.live.push_back({.sample = i});
    sentences_.push_back(std::move(sentence));
  }

  /// Tokens that the live hypotheses have.
  int64_t made() const { return ensemble_.length() - 1; }

  /// Feeds the last tokens and extends every live hypothesis.
  void advance() {
    Step step;
    step.logits = ensemble_.feed(next_).contiguous();
    step.offsets = offsets_of(step.logits);
    step.excluded = excluded();
    step.forbidden = forbidden();
    const Segments& groups = ensemble_.groups();
    const auto found = sampling_ != nullptr
                           ? drawn(step)
                           : best_candidates({step.logits, step.offsets, groups, step.excluded,
                                              2 * options_.beam, step.forbidden});
    for (size_t i = 0; i < sentences_.size(); ++i) {
      Sentence& sentence = sentences_[i];
      if (ensemble_.length() < sentence.longest && !found[i].empty()) {
        extend(sentence, found[i], groups.begin(i));
      } else {
        end_by_force(sentence, step, groups.begin(i));
      }
    }
  }

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

  /// Tokens that no hypothesis may go on with.
  std::vector<int64_t> excluded() const {
    std::vector<int64_t> tokens{special_.padding, special_.begin};
    if (options_.forbid_unknown) tokens.push_back(special_.unknown);
    // A vocabulary may lack an unknown piece, and begin with the end piece.
    std::erase_if(tokens, [&](int64_t id) { return id < 0 || id == special_.end; });
    if (none_may_end()) tokens.push_back(special_.end);
    return tokens;
  }

  bool may_end(const Sentence& sentence) const { return made() >= sentence.shortest; }

  bool none_may_end() const {
    return std::ranges::none_of(sentences_, [&](const Sentence& sentence) {
      return !sentence.live.empty() && may_end(sentence);
    });
  }

  bool all_may_end() const {
    return std::ranges::all_of(sentences_,
                               [&](const Sentence& sentence) { return may_end(sentence); });
  }

  /// Tokens that single hypotheses may not go on with, by row; nothing where there is none.
  std::vector<std::vector<int64_t>> forbidden() const {
    std::vector<std::vector<int64_t>> rows;
    if (options_.no_repeat_ngram == 0 && (all_may_end() || none_may_end())) return rows;
    for (const Sentence& sentence : sentences_) {
      for (const Live& live : sentence.live) {
        rows.push_back(options_.no_repeat_ngram == 0
                           ? std::vector<int64_t>()
                           : repeating_tokens(tokens_of(live), options_.no_repeat_ngram));
        if (!may_end(sentence)) rows.back().push_back(special_.end);
      }
    }
    return rows;
  }

  /// One continuation of every live hypothesis, by chance.
  std::vector<std::vector<Candidate>> drawn(const Step& step) const {
    std::vector<std::vector<Candidate>> all(sentences_.size());
    int64_t row = 0;
    for (size_t i = 0; i < sentences_.size(); ++i) {
      for (const Live& live : sentences_[i].live) {
        const double uniform =
            uniform_at({sentences_[i].number, live.sample, made()}, sampling_->seed);
        const auto token = draw(allowed(step, row), cut_of(*sampling_), uniform);
        if (token) all[i].push_back({row, *token, step.score(row, *token)});
        ++row;
      }
    }
    return all;
  }

  static std::vector<float> allowed(const Step& step, int64_t row) {
    constexpr float impossible = -std::numeric_limits<float>::infinity();
    const int64_t columns = step.logits.size(1);
    const float* first = step.logits.data_ptr<float>() + row * columns;
    std::vector<float> logits(first, first + columns);
    for (const int64_t token : step.excluded) logits[token] = impossible;
    if (step.forbidden.empty()) return logits;
    for (const int64_t token : step.forbidden[row]) logits[token] = impossible;
    return logits;
  }

  void extend(Sentence& sentence, const std::vector<Candidate>& found, int64_t first_row) {
    std::vector<Live> longer;
    int64_t place = 0;
    for (const Candidate& candidate : found) {
      const Live& before = sentence.live[candidate.row - first_row];
      if (candidate.token == special_.end) {
        if (place < options_.width()) finish(sentence, before, candidate.score);
      } else if (static_cast<int64_t>(longer.size()) < options_.width()) {
        longer.push_back(
            {static_cast<int64_t>(links_.size()), candidate.score, candidate.row, before.sample});
        links_.push_back({before.last, candidate.token});
      }
      ++place;
    }
    sentence.live = has_won(sentence, longer) ? std::vector<Live>{} : std::move(longer);
  }

  void end_by_force(Sentence& sentence, const Step& step, int64_t first_row) {
    for (size_t k = 0; k < sentence.live.size(); ++k) {
      const float score = step.score(first_row + static_cast<int64_t>(k), special_.end);
      if (!std::isnan(score)) finish(sentence, sentence.live[k], score);
    }
    sentence.live.clear();
  }

  /// True when the kept hypotheses are as many as asked for and no live one scores better now.
  bool has_won(const Sentence& sentence, const std::vector<Live>& live) const {
    if (static_cast<int64_t>(sentence.finished.size()) < options_.width()) return false;
    return std::none_of(live.begin(), live.end(), [&](const Live& each) {
      return hypothesis_score(each.log_probability, ensemble_.length(), options_) >
             sentence.finished.back().score;
    });
  }

  /// Adds a hypothesis to the best finished ones, best first.
  void finish(Sentence& sentence, const Live& before, double log_probability) const {
    sentence.finished.push_back({tokens_of(before), log_probability,
                                 hypothesis_score(log_probability, ensemble_.length(), options_)});
    rank(sentence.finished);
    if (static_cast<int64_t>(sentence.finished.size()) > options_.width())
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
    ensemble_.select(torch::tensor(rows, torch::kInt64).to(next_.device()), readers);
  }

  const DecodeOptions& options_;
  SpecialIds special_;
  const RandomSampling* sampling_;  // null for a beam
  int64_t first_live_;              // hypotheses that a sentence begins with
  Ensemble ensemble_;
  std::vector<Sentence> sentences_;
  std::vector<Link> links_;
  torch::Tensor next_;  // last token of every live hypothesis
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(const SearchInputs& inputs,
                                            const DecodeOptions& options,
                                            const SpecialIds& special) {
  const torch::NoGradGuard no_grad;
  return Search(inputs, options, special).run();
}

std::vector<std::vector<Hypothesis>> beam_search(const Transformer& model, const Packed& sources,
                                                 const DecodeOptions& options,
                                                 const SpecialIds& special) {
  const Transformer* const models[] = {&model};
  return search({models, sources}, options, special);
}

}  // namespace ballast
