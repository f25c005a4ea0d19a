#include "ballast/data/packed_batch.h"

#include <torch/utils.h>

#include <algorithm>
#include <vector>

namespace ballast {
namespace {

using Sequence = std::span<const int32_t>;

Packed pack_sequences(std::span<const Sequence> sequences) {
  std::vector<int64_t> lengths;
  lengths.reserve(sequences.size());
  for (const Sequence sequence : sequences) {
    lengths.push_back(static_cast<int64_t>(sequence.size()));
  }
  Packed packed{{}, Segments::packed(lengths)};
  packed.tokens = torch::empty({packed.segments.tokens()}, torch::kInt64);
  auto* out = packed.tokens.data_ptr<int64_t>();
  for (const Sequence sequence : sequences) {
    out = std::copy(sequence.begin(), sequence.end(), out);
  }
  return packed;
}

Packed to_device(const Packed& packed, torch::Device device) {
  return {packed.tokens.to(device), packed.segments};
}

}  // namespace

Batch Batch::to(torch::Device device) const {
  return {to_device(source, device), to_device(target_input, device), target_output.to(device),
          tokens};
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const int64_t> sequences) {
  std::vector<Sequence> sources, inputs, outputs;
  for (const int64_t i : sequences) {
    const Sequence target = corpus.target[i];
    inputs.push_back(target.first(target.size() - 1));
    outputs.push_back(target.subspan(1));
    if (corpus.is_parallel()) sources.push_back(corpus.source[i]);
  }
  Batch batch{pack_sequences(sources), pack_sequences(inputs), pack_sequences(outputs).tokens};
  batch.tokens = batch.target_output.numel();
  return batch;
}

Packed pack(std::span<const std::vector<int64_t>> sources) {
  std::vector<int64_t> lengths, ids;
  for (const auto& source : sources) {
    lengths.push_back(static_cast<int64_t>(source.size()));
    ids.insert(ids.end(), source.begin(), source.end());
  }
  return {torch::tensor(ids, torch::kInt64), Segments::packed(lengths)};
}

}  // namespace ballast
