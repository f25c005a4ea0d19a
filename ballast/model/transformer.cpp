#include "ballast/model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ballast/base/error.h"
#include "ballast/model/contradictions.h"

namespace ballast {
namespace {

void check(const ModelOptions& options) {
  const std::vector<Contradiction> found = contradictions(options);
  if (!found.empty()) throw RecipeError(found.front().text);
}

}  // namespace

torch::Tensor places_of(const Segments& segments, torch::Device device) {
  torch::Tensor places = torch::empty({segments.tokens()}, torch::kInt64);
  int64_t* out = places.data_ptr<int64_t>();
  for (const int64_t length : segments.lengths()) {
    std::iota(out, out + length, 0);
    out += length;
  }
  return places.to(device);
}

void DecodeState::select(const torch::Tensor& rows, std::span<const int64_t> per_sentence) {
  reading.lineage.select(rows);
  reading.readers = Segments::packed(per_sentence);
}

Transformer::Transformer(const ModelOptions& options, const VocabularySizes& sizes)
    : options_(options) {
  check(options);
  options_.share_embeddings = resolved(options.share_embeddings, sizes.joint);
  build_embeddings(sizes);
  const bool encodes = options.kind == ModelKind::seq2seq;
  if (encodes) {
    source_positions = register_module(
        "source_positions", std::make_shared<Positions>(options.positions, options.d_model));
    source_dropout_ = register_module("source_dropout", std::make_shared<Dropout>(options.dropout));
    encoder =
        register_module("encoder", std::make_shared<BlockStack>(options, Stack::encoder, false));
  }
  target_positions = register_module(
      "target_positions", std::make_shared<Positions>(options.positions, options.d_model));
  target_dropout_ = register_module("target_dropout", std::make_shared<Dropout>(options.dropout));
  decoder =
      register_module("decoder", std::make_shared<BlockStack>(options, Stack::decoder, encodes));
  bind_modules(*this, context_);
}

void Transformer::build_embeddings(const VocabularySizes& sizes) {
  const double scale = std::sqrt(static_cast<double>(options_.d_model));
  const int64_t d = options_.d_model;
  target_embedding =
      register_module("target_embedding",
                      std::make_shared<Embedding>(sizes.target, d, Role::target_embedding, scale));
  const bool shared = options_.share_embeddings == EmbeddingSharing::all;
  if (options_.kind == ModelKind::seq2seq) {
    if (shared && (!sizes.joint || sizes.source != sizes.target)) {
      throw RecipeError(fmt::format(
          "model.share_embeddings = \"all\" needs one vocabulary, found two, of {} source and {} "
          "target ids; use \"auto\" or \"target_output\"",
          sizes.source, sizes.target));
    }
    source_embedding =
        shared ? target_embedding
               : register_module(
                     "source_embedding",
                     std::make_shared<Embedding>(sizes.source, d, Role::source_embedding, scale));
  }
  if (options_.share_embeddings == EmbeddingSharing::none) {
    output = register_module(
        "output", std::make_shared<Linear>(LinearShape{d, sizes.target, Role::output, std::nullopt,
                                                       options_.output_bias}));
  } else if (options_.output_bias) {
    output_bias_ = register_parameter("output_bias", torch::zeros({sizes.target}));
  }
}

Memory Transformer::encode(const Packed& source) const {
  const torch::Tensor places = places_of(source.segments, source.tokens.device());
  const torch::Tensor x = source_embedding->forward(source.tokens) +
                          source_positions->forward(places, source.segments.longest());
  const auto [rows, copy] = LinearInput::shared(
      encoder->forward(source_dropout_->forward(x), source.segments), context_->precision);
  return {rows, source.segments, copy};
}

torch::Tensor Transformer::forward(const Packed& source, const Packed& target) const {
  const torch::Tensor places = places_of(target.segments, target.tokens.device());
  const torch::Tensor x = target_embedding->forward(target.tokens) +
                          target_positions->forward(places, target.segments.longest());
  const torch::Tensor entered = target_dropout_->forward(x);
  if (!encoder) return decoder->forward(entered, target.segments);
  const Memory memory = encode(source);
  return decoder->forward(entered, target.segments, &memory);
}

DecodeState Transformer::start(const Memory& memory, int64_t rows_per_sentence) const {
  const int64_t sentences = memory.segments.count();
  return {.caches = decoder->caches(memory),
          .reading = {
              .readers = Segments::strided(sentences, rows_per_sentence, rows_per_sentence),
              .sentences = memory.segments,
          }};
}

torch::Tensor Transformer::step(const torch::Tensor& ids, DecodeState& state) const {
  const torch::Tensor place = torch::full({1}, state.length, ids.options());
  const torch::Tensor x =
      target_embedding->forward(ids) + target_positions->forward(place, state.length + 1);
  ++state.length;
  state.reading.lineage.extend(ids.size(0), ids.device());
  return decoder->step(target_dropout_->forward(x), state.caches, state.reading);
}

int64_t Transformer::longest_sequence() const {
  const int64_t target = target_positions->longest_sequence();
  return encoder ? std::min(target, source_positions->longest_sequence()) : target;
}

void Transformer::set_activations(Activations activations) {
  if (encoder) encoder->activations = activations;
  decoder->activations = activations;
}

const torch::Tensor& Transformer::output_weight() const {
  return output ? output->weight : target_embedding->weight;
}

torch::Tensor Transformer::bf16_output() const {
  if (context_->precision == Precision::float32) return {};
  return bf16_output_.of(output_weight());
}

CrossEntropyInputs Transformer::projection(const torch::Tensor& hidden,
                                           const torch::Tensor& targets) const {
  return {hidden, output_weight(), output ? output->bias : output_bias_, targets, bf16_output()};
}

double Transformer::projection_multiplier() const {
  return output ? output->multiplier : target_embedding->multiplier;
}

torch::Tensor Transformer::logits(const torch::Tensor& hidden) const {
  const torch::Tensor& bias = output ? output->bias : output_bias_;
  return linear(hidden, output_weight(), bias,
                {.multiplier = projection_multiplier(), .bf16_weight = bf16_output()});
}

}  // namespace ballast
