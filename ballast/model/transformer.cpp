#include "ballast/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/data/packed_batch.h"
#include "ballast/layers/positions.h"
#include "ballast/layers/relative_positions.h"
#include "ballast/model/contradictions.h"

namespace ballast {
namespace {

void check(const ModelOptions& options) {
  const std::vector<Contradiction> found = contradictions(options);
  if (!found.empty()) throw RecipeError(found.front().text);
}

/// The rows of packed sequences that belong to each group of them.
Segments rows_of(const Segments& groups, const Segments& sequences) {
  std::vector<int64_t> rows;
  for (int64_t g = 0; g < groups.count(); ++g) {
    const auto own = sequences.lengths().subspan(groups.begin(g), groups.length(g));
    rows.push_back(std::accumulate(own.begin(), own.end(), int64_t{0}));
  }
  return Segments::packed(rows);
}

}  // namespace

void DecodeState::select(const torch::Tensor& rows, std::span<const int64_t> per_sentence) {
  reading.lineage.select(rows);
  reading.readers = Segments::packed(per_sentence);
}

Transformer::Transformer(const ModelOptions& options, const VocabularySizes& sizes)
    : options_(options) {
  check(options);
  options_.share_embeddings = resolved(options.share_embeddings, sizes.joint);
  build_embeddings(sizes);
  build_output(sizes.target);
  const PositionForm positions = form_of(options.positions);
  const ModelShape shape = options.shape();
  if (shape.has_source) {
    source_positions = register_module("source_positions",
                                       std::make_shared<Positions>(positions, options.d_model));
    source_dropout_ = register_module("source_dropout", std::make_shared<Dropout>(options.dropout));
  }
  if (shape.has(Stack::encoder)) {
    encoder = register_module("encoder", std::make_shared<BlockStack>(options, Stack::encoder));
  }
  target_positions =
      register_module("target_positions", std::make_shared<Positions>(positions, options.d_model));
  target_dropout_ = register_module("target_dropout", std::make_shared<Dropout>(options.dropout));
  if (shape.has(Stack::decoder)) {
    decoder = register_module("decoder", std::make_shared<BlockStack>(options, Stack::decoder));
  }
  bind_modules(*this, context_);
}

void Transformer::build_embeddings(const VocabularySizes& sizes) {
  const auto table = [&](int64_t ids, Stack reader) {
    const Role role = reader == Stack::encoder ? Role::source_embedding : Role::target_embedding;
    return std::make_shared<Embedding>(ids, options_.d_model, role, options_.embedding_factor());
  };
  target_embedding =
      register_module("target_embedding", table(sizes.target, options_.shape().target));
  const bool shared = options_.share_embeddings == EmbeddingSharing::all;
  if (options_.shape().has_source) {
    if (shared && (!sizes.joint || sizes.source != sizes.target)) {
      throw RecipeError(fmt::format(
          "model.share_embeddings = \"all\" needs one vocabulary, found two, of {} source and {} "
          "target ids; use \"auto\" or \"target_output\"",
          sizes.source, sizes.target));
    }
    source_embedding =
        shared ? target_embedding
               : register_module("source_embedding", table(sizes.source, Stack::encoder));
  }
}

void Transformer::build_output(int64_t vocabulary_size) {
  const int64_t d = options_.d_model;
  OutputForm form{.bias = options_.output_bias, .soft_cap = options_.logit_soft_cap};
  if (options_.output_transform) {
    form.transform = {.d_model = d,
                      .activation = form_of(options_.activation),
                      .norm = form_of(options_.norm),
                      .bias = options_.linear_bias};
  }
  const bool tied = options_.share_embeddings != EmbeddingSharing::none;
  output = register_module("output",
                           tied ? std::make_shared<OutputProjection>(target_embedding, form)
                                : std::make_shared<OutputProjection>(d, vocabulary_size, form));
}

Memory Transformer::encode(const Packed& source) const {
  const torch::Tensor places = places_of(source.segments, source.tokens.device());
  const torch::Tensor x = source_positions->added_to(source_embedding->forward(source.tokens),
                                                     places, source.segments.places());
  const torch::Tensor rows =
      encoder->forward(source_dropout_->forward(encoder->entering(x, &source.segments)),
                       {.segments = source.segments});
  return {LinearInput::shared(rows, context_->precision), source.segments};
}

torch::Tensor Transformer::forward(const Packed& source, const Packed& target) const {
  const torch::Tensor places = places_of(target.segments, target.tokens.device());
  const torch::Tensor x = target_positions->added_to(target_embedding->forward(target.tokens),
                                                     places, target.segments.places());
  const BlockStack& stack = target_stack();
  const torch::Tensor entered = target_dropout_->forward(stack.entering(x, &target.segments));
  if (!options_.shape().has_source) return stack.forward(entered, {.segments = target.segments});
  const Memory memory = encode(source);
  return stack.forward(entered, {.segments = target.segments, .memory = &memory});
}

CrossEntropyInputs Transformer::predictions(const Batch& batch) const {
  const torch::Tensor rows = forward(batch.source, batch.target_input);
  const bool is_part = batch.predicted.defined();
  return output->against(is_part ? rows.index_select(0, batch.predicted) : rows,
                         batch.target_output);
}

DecodeState Transformer::start(const Memory& memory, int64_t rows_per_sentence) const {
  const int64_t sentences = memory.segments.count();
  DecodeState state{.cache = decoder->cache(memory)};
  state.reading.readers = Segments::strided(sentences, rows_per_sentence, rows_per_sentence);
  state.reading.sentences = memory.segments;
  state.reading.lineage.add(sentences * rows_per_sentence);
  return state;
}

DecodeState Transformer::start() const {
  return {.cache = decoder->cache({torch::Tensor(), Segments()})};
}

torch::Tensor Transformer::placed(const torch::Tensor& ids, const torch::Tensor& places,
                                  int64_t longest) const {
  return target_positions->added_to(target_embedding->forward(ids), places.to(ids.device()),
                                    longest);
}

/// Rows `placed` through the decoder, for which the lineage has places already.
torch::Tensor Transformer::fed(const torch::Tensor& x, DecodeState& state) const {
  state.reading.places = decoder->places(state.reading, x.options());
  return decoder->step(target_dropout_->forward(decoder->entering(x)), state.cache, state.reading);
}

torch::Tensor Transformer::step(const torch::Tensor& ids, DecodeState& state) const {
  Lineage& lineage = state.reading.lineage;
  const torch::Tensor x = placed(ids, next_places(lineage.lengths()), lineage.longest() + 1);
  lineage.extend(ids.size(0));
  return fed(x, state);
}

torch::Tensor Transformer::read(const Packed& target, DecodeState& state) const {
  Reading& reading = state.reading;
  const Segments& sequences = target.segments;
  const torch::Tensor x =
      placed(target.tokens, places_of(sequences, torch::kCPU), sequences.longest());
  if (!encoder) reading.lineage.add(sequences.count());
  reading.lineage.feed(sequences.lengths());
  reading.whole = sequences;
  const Segments readers = std::exchange(reading.readers, rows_of(reading.readers, sequences));
  torch::Tensor rows = fed(x, state);
  reading.readers = readers;
  reading.whole.reset();
  return rows;
}

int64_t Transformer::longest_sequence() const {
  const int64_t target = target_positions->longest_sequence();
  return source_positions ? std::min(target, source_positions->longest_sequence()) : target;
}

void Transformer::complete(ParameterFacts& facts) const {
  facts.model = {.encoder_layers = static_cast<int>(options_.layers(Stack::encoder)),
                 .decoder_layers = static_cast<int>(options_.layers(Stack::decoder)),
                 .d_model = options_.d_model,
                 .dropout = options_.dropout};
}

void Transformer::set_activations(Activations activations) {
  for (BlockStack* each : {encoder.get(), decoder.get()}) {
    if (each != nullptr) each->activations = activations;
  }
}

}  // namespace ballast
