#include "ballast/data/packed_batch.h"

#include "ballast/data/contexts.h"
#include "ballast/data/masking.h"

namespace ballast {
namespace {

Batch batch_of_contexts(const Contexts& contexts, std::span<const int64_t> numbers) {
  std::vector<ContextPiece> pieces;
  for (const int64_t k : numbers) {
    const auto found = contexts.pieces(k);
    pieces.insert(pieces.end(), found.begin(), found.end());
  }
  std::vector<int64_t> lengths, places;
  for (const ContextPiece& each : pieces) {
    lengths.push_back(each.size());
    places.push_back(each.place);
  }
  const std::vector<std::vector<int64_t>> no_sources;
  Batch batch{pack(no_sources), {{}, Segments::packed(lengths, places)}, {}};
  batch.tokens = batch.target_input.segments.tokens();
  batch.target_input.tokens = torch::empty({batch.tokens}, torch::kInt64);
  batch.target_output = torch::empty({batch.tokens}, torch::kInt64);
  auto* in = batch.target_input.tokens.data_ptr<int64_t>();
  auto* out = batch.target_output.data_ptr<int64_t>();
  for (const ContextPiece& each : pieces) {
    contexts.stream().copy(each.begin, each.end, out);
    *in++ = each.before;
    in = std::copy(out, out + each.size() - 1, in);
    out += each.size();
  }
  return batch;
}

Batch batch_of_pairs(const EncodedCorpus& corpus, std::span<const int64_t> sequences) {
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
  return batch;
}

}  // namespace

Batch Batch::to(torch::Device device) const {
  return {source.to(device), target_input.to(device), target_output.to(device), tokens,
          predicted.defined() ? predicted.to(device) : predicted};
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const int64_t> sequences,
                 std::optional<int64_t> pass) {
  Batch batch = corpus.contexts ? batch_of_contexts(*corpus.contexts, sequences)
                                : batch_of_pairs(corpus, sequences);
  return corpus.masking ? corpus.masking->masked(std::move(batch), pass) : batch;
}

}  // namespace ballast
