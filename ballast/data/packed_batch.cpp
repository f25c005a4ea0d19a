#include "ballast/data/packed_batch.h"

#include "ballast/data/masking.h"

namespace ballast {
Batch Batch::to(torch::Device device) const {
  return {source.to(device), target_input.to(device), target_output.to(device), tokens,
          predicted.defined() ? predicted.to(device) : predicted};
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const int64_t> sequences,
                 std::optional<int64_t> pass) {
  using Sequence = std::span<const int32_t>;
  std::vector<Sequence> sources, inputs, outputs;
  for (const int64_t i : sequences) {
    const Sequence target = corpus.target[i];
    inputs.push_back(target.first(target.size() - 1));
    outputs.push_back(target.subspan(1));
    if (corpus.is_parallel()) sources.push_back(corpus.source[i]);
  }
  Batch batch{pack(sources), pack(inputs), pack(outputs).tokens};
  batch.tokens = batch.target_output.numel();
  return corpus.masking ? corpus.masking->masked(std::move(batch), pass) : batch;
}

}  // namespace ballast
