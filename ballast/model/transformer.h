#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <span>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/base/segments.h"
#include "ballast/layers/embedding.h"
#include "ballast/layers/output_projection.h"
#include "ballast/layers/positions.h"
#include "ballast/model/options.h"
#include "ballast/model/stack.h"

namespace ballast {

/// Hypotheses being extended token by token.
struct DecodeState {
  StackCache cache;
  Reading reading;

  int64_t length() const { return reading.lineage.longest(); }  ///< most tokens fed so far

  /// Keeps the hypotheses `rows` (int64 [B'], repeats allowed), in that order; `per_sentence` says
  /// how many of them read each sentence that stays.
  void select(const torch::Tensor& rows, std::span<const int64_t> per_sentence);
};

struct Batch;

/// Encoder-decoder (Vaswani et al. 2017, arXiv:1706.03762), the same decoder without a source
/// (causal_lm), or the encoder alone (masked_lm). Modules only: values are decided by
/// `parameterize`, `initialize` and `calibrate`; as made, matrices are 0.
class Transformer : public torch::nn::Module, public Surrounding {
 public:
  /// Throws RecipeError when the options contradict each other (heads must divide d_model, ...), or
  /// when embeddings are to be shared between two vocabularies.
  Transformer(const ModelOptions& options, const VocabularySizes& sizes);

  /// Rows [N_t, d] of the target text, of which a decoder's row i has seen ids up to its own and an
  /// encoder's all of its sequence; source is empty in a model without one. DataError for a
  /// sequence longer than `longest_sequence`.
  torch::Tensor forward(const Packed& source, const Packed& target) const;

  /// What the loss of a batch reads: the rows that are predicted, against their targets.
  CrossEntropyInputs predictions(const Batch& batch) const;

  /// Encoder output [N_s, d] for source sentences. Only of a model that has a source; DataError as
  /// in `forward`.
  Memory encode(const Packed& source) const;

  /// A state in which `rows_per_sentence` empty hypotheses read each sentence of the memory, that
  /// of sentence s being rows s * rows_per_sentence on. The memory need not outlive it.
  DecodeState start(const Memory& memory, int64_t rows_per_sentence) const;
  /// That of a model without a source: no hypothesis yet.
  DecodeState start() const;

  /// Feeds one id per hypothesis, int64 [B], whatever their lengths are; returns the decoder output
  /// [B, d] and has the state one token longer. DataError as in `forward`.
  torch::Tensor step(const torch::Tensor& ids, DecodeState& state) const;

  /// Feeds whole sequences in one pass and returns the decoder output of every token, [N_t, d], as
  /// `forward` does: to the hypotheses of sources, one each, before any step; without a source each
  /// begins one more hypothesis, behind those that there are. DataError as in `forward`.
  torch::Tensor read(const Packed& target, DecodeState& state) const;

  /// Logits [N, V] of decoder outputs [N, d].
  torch::Tensor logits(const torch::Tensor& hidden) const { return output->logits(hidden); }

  torch::Device device() const { return target_embedding->weight.device(); }

  /// Longest source, and longest target with its begin piece, that there are positions for.
  int64_t longest_sequence() const;

  /// Whether both stacks keep what their blocks compute, see `BlockStack::activations`.
  void set_activations(Activations activations);

  std::vector<const torch::nn::Module*> surrounded() const override { return {this}; }
  void complete(ParameterFacts& facts) const override;
  void complete(FactorFacts&) const override {}

  /// The stack that reads the target text, whose rows the output projection reads.
  const BlockStack& target_stack() const { return decoder ? *decoder : *encoder; }

  const ModelOptions& options() const { return options_; }
  Context& context() const { return *context_; }

  std::shared_ptr<Embedding> source_embedding;  ///< the target's when all are shared
  std::shared_ptr<Embedding> target_embedding;
  std::shared_ptr<Positions> source_positions, target_positions;
  std::shared_ptr<BlockStack> encoder, decoder;  ///< null where the kind has none
  std::shared_ptr<OutputProjection> output;

 private:
  void build_embeddings(const VocabularySizes& sizes);
  void build_output(int64_t vocabulary_size);
  torch::Tensor placed(const torch::Tensor& ids, const torch::Tensor& places,
                       int64_t longest) const;
  torch::Tensor fed(const torch::Tensor& x, DecodeState& state) const;

  ModelOptions options_;
  std::shared_ptr<Dropout> source_dropout_, target_dropout_;
  std::shared_ptr<Context> context_ = std::make_shared<Context>();
};

}  // namespace ballast
