#pragma once

#include <vector>

#include "ballast/decode/options.h"
#include "bench/stock_transformer.h"

namespace ballast::bench {

/// Keys and values of one block while decoding R = B beam rows, as fairseq keeps them.
struct StockCache {
  torch::Tensor self_key, self_value;    ///< [R, H, t, K], grown by torch::cat
  torch::Tensor cross_key, cross_value;  ///< [B H, S, K]
};

/// One token for every row, with the keys and values of all before it.
class StockDecoder {
 public:
  /// `memory` [S, B, D] with its pads; every sentence has `beam` rows side by side.
  StockDecoder(const StockTransformer& model, const torch::Tensor& memory,
               const torch::Tensor& is_pad, int64_t beam);

  /// Feeds ids [R]; returns logits [R, V].
  torch::Tensor step(const torch::Tensor& ids);

  /// Goes on with rows `rows` (int64 [R']), which read the sentences `sentences` (int64 [B']).
  void reorder(const torch::Tensor& rows);
  void keep_sentences(const torch::Tensor& sentences);

 private:
  torch::Tensor self_attended(const StockAttention& attention, StockCache& cache,
                              const torch::Tensor& x) const;
  torch::Tensor cross_attended(const StockAttention& attention, const StockCache& cache,
                               const torch::Tensor& x) const;

  const StockTransformer& model_;
  int64_t beam_, heads_, length_ = 0;
  torch::Tensor memory_mask_;  // [B H, 1, S]
  std::vector<StockCache> caches_;
};

/// Beam search over padded sources as fairseq's SequenceGenerator does it: `beam` rows for every
/// unfinished sentence, 2 beam candidates from one top-k over all rows of a sentence, finished
/// sentences leave the batch. Every sentence has its own longest output. Returns the best
/// hypothesis of each source, without the end piece; batches are those of `translate`.
std::vector<std::vector<int64_t>> stock_translate(const StockTransformer& model,
                                                  const std::vector<std::vector<int64_t>>& sources,
                                                  const DecodeOptions& options);

}  // namespace ballast::bench
