#include "bench/stock_search.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ballast/decode/hypothesis.h"

namespace ballast::bench {
namespace {

constexpr float impossible = -std::numeric_limits<float>::infinity();

using Sentences = std::vector<std::vector<int64_t>>;

class Search {
 public:
  Search(const StockTransformer& model, const Padded& sources, const DecodeOptions& options)
      : options_(options),
        batch_(sources.tokens.size(1)),
        decoder_(model, model.encode(sources), sources.is_pad, options.beam),
        sentence_of_(torch::arange(batch_)),
        scores_(torch::full({batch_, options.beam}, impossible)),
        tokens_(torch::full({batch_ * options.beam, 1}, special_.begin, torch::kInt64)),
        finished_(static_cast<std::size_t>(batch_)) {
    scores_.select(1, 0).fill_(0);  // at first all rows of a sentence are the same
    std::vector<int64_t> limits;
    for (const int64_t pads : counts(sources.is_pad)) {
      limits.push_back(longest_output(sources.tokens.size(0) - pads, options));
    }
    limits_ = torch::tensor(limits, torch::kInt64);
  }

  Sentences run() {
    while (batch_ > 0) advance();
    Sentences best;
    for (std::vector<Hypothesis>& found : finished_) {
      rank(found);
      best.push_back(std::move(found.front().tokens));
    }
    return best;
  }

 private:
  static std::vector<int64_t> counts(const torch::Tensor& is_pad) {
    const torch::Tensor sums = is_pad.sum(1);
    return {sums.data_ptr<int64_t>(), sums.data_ptr<int64_t>() + sums.numel()};
  }

  void advance() {
    const torch::Tensor log_p = log_probabilities();
    const int64_t classes = log_p.size(2), wanted = 2 * options_.beam;
    const torch::Tensor totals = (log_p + scores_.unsqueeze(2)).view({batch_, -1});
    const auto [values, places] = totals.topk(wanted);
    const torch::Tensor tokens = places.remainder(classes);
    const torch::Tensor first_rows = torch::arange(batch_).unsqueeze(1) * options_.beam;
    const torch::Tensor rows = places.div(classes, "floor") + first_rows;
    const torch::Tensor ends = tokens.eq(special_.end).logical_and(values.ne(impossible));
    finish(ends, values, rows);
    // The first `beam` that do not end, in order.
    const torch::Tensor order = ends.to(torch::kInt64) * wanted + torch::arange(wanted);
    const torch::Tensor chosen = std::get<1>(order.topk(options_.beam, 1, /*largest=*/false));
    go_on(values.gather(1, chosen), rows.gather(1, chosen), tokens.gather(1, chosen));
  }

  /// [B, beam, V]
  torch::Tensor log_probabilities() {
    const torch::Tensor logits = decoder_.step(tokens_.select(1, tokens_.size(1) - 1));
    torch::Tensor log_p =
        torch::log_softmax(logits, -1).view({batch_, options_.beam, logits.size(1)});
    log_p.select(2, special_.padding).fill_(impossible);
    log_p.select(2, special_.begin).fill_(impossible);
    if (tokens_.size(1) == 1) log_p.select(2, special_.end).fill_(impossible);
    const torch::Tensor at_limit = limits_.le(tokens_.size(1));
    if (at_limit.any().item<bool>()) {
      const torch::Tensor end = log_p.select(2, special_.end).clone();
      log_p.masked_fill_(at_limit.view({-1, 1, 1}), impossible);
      log_p.select(2, special_.end).copy_(end);
    }
    return log_p;
  }

  void finish(const torch::Tensor& ends, const torch::Tensor& values, const torch::Tensor& rows) {
    const auto end = ends.accessor<bool, 2>();
    const auto value = values.accessor<float, 2>();
    const auto row = rows.accessor<int64_t, 2>();
    const auto token = tokens_.accessor<int64_t, 2>();
    const int64_t length = tokens_.size(1);  // with the begin piece, as scores count the end piece
    for (int64_t i = 0; i < batch_; ++i) {
      std::vector<Hypothesis>& found = finished_[sentence_of_[i].item<int64_t>()];
      for (int64_t k = 0; k < options_.beam; ++k) {
        if (!end[i][k] || static_cast<int64_t>(found.size()) == options_.beam) continue;
        const int64_t* first = token[row[i][k]].data();
        found.push_back({{first + 1, first + length},
                         value[i][k],
                         hypothesis_score(value[i][k], length, options_)});
      }
    }
  }

  /// Drops what is finished, and extends what goes on.
  void go_on(torch::Tensor values, torch::Tensor rows, torch::Tensor tokens) {
    std::vector<int64_t> open;
    for (int64_t i = 0; i < batch_; ++i) {
      const auto& found = finished_[sentence_of_[i].item<int64_t>()];
      if (static_cast<int64_t>(found.size()) < options_.beam) open.push_back(i);
    }
    if (static_cast<int64_t>(open.size()) < batch_) {
      const torch::Tensor kept = torch::tensor(open, torch::kInt64);
      for (torch::Tensor* each : {&values, &rows, &tokens, &sentence_of_, &limits_}) {
        *each = each->index_select(0, kept);
      }
      decoder_.keep_sentences(kept);
      batch_ = static_cast<int64_t>(open.size());
    }
    scores_ = values;
    tokens_ = torch::cat({tokens_.index_select(0, rows.flatten()), tokens.view({-1, 1})}, 1);
    decoder_.reorder(rows.flatten());
  }

  const DecodeOptions& options_;
  SpecialIds special_;
  int64_t batch_;
  StockDecoder decoder_;
  torch::Tensor sentence_of_;  // [B], places in `finished_`
  torch::Tensor limits_;       // [B]
  torch::Tensor scores_;       // [B, beam]
  torch::Tensor tokens_;       // [B beam, t]
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

std::vector<std::vector<int64_t>> stock_translate(const StockTransformer& model,
                                                  const std::vector<std::vector<int64_t>>& sources,
                                                  const DecodeOptions& options) {
  const torch::NoGradGuard no_grad;
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].size() > sources[b].size();
  });
  Sentences results(sources.size());
  for (std::size_t begin = 0; begin < order.size();) {
    const auto longest = static_cast<int64_t>(sources[order[begin]].size());
    const int64_t count = std::max<int64_t>(1, options.batch_tokens / (longest * options.beam));
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(count));
    Sentences batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(sources[order[i]]);
    Sentences found = Search(model, padded(pack(batch), SpecialIds{}.padding), options).run();
    for (std::size_t i = begin; i < end; ++i) results[order[i]] = std::move(found[i - begin]);
    begin = end;
  }
  return results;
}

}  // namespace ballast::bench
