#include "ballast/model/presets.h"

#include "ballast/model/options.h"

namespace ballast {

void Gpt2Preset::apply(ModelOptions& options) const {
  options.kind = ModelKind::causal_lm;
  options.activation = GeluTanh{};
  options.dropout = options.attention_dropout = 0.1;
  options.embedding_scale = UnscaledEmbedding{};
  options.positions = LearnedPositions{.max_length = 1024};
  options.norm = LayerNorm{};
  options.residual = PreNorm{};
}

void NanoGptPreset::apply(ModelOptions& options) const {
  Gpt2Preset().apply(options);
  options.activation = Gelu{};
  options.dropout = options.attention_dropout = 0;
  options.norm = LayerNorm{.bias = false};
  options.linear_bias = false;
}

void LlamaPreset::apply(ModelOptions& options) const {
  options.kind = ModelKind::causal_lm;
  options.activation = SwiGlu{};
  options.dropout = 0;
  options.share_embeddings = EmbeddingSharing::none;
  options.embedding_scale = UnscaledEmbedding{};
  options.linear_bias = false;
  options.positions = RotaryPositions{};
  options.norm = RmsNorm{.eps = 1e-5};
  options.residual = PreNorm{};
}

void GemmaPreset::apply(ModelOptions& options) const {
  LlamaPreset().apply(options);
  options.activation = GeGluTanh{};
  options.share_embeddings = EmbeddingSharing::automatic;
  options.embedding_scale = SqrtWidthEmbedding{};
  options.norm = RmsNorm{.eps = 1e-6, .one_plus_gain = true};
}

void Gemma2Preset::apply(ModelOptions& options) const {
  GemmaPreset().apply(options);
  options.residual = SandwichNorm{};
  options.attention_soft_cap = 50;
  options.logit_soft_cap = 30;
}

void BertPreset::apply(ModelOptions& options) const {
  options.kind = ModelKind::masked_lm;
  options.activation = Gelu{};
  options.dropout = options.attention_dropout = 0.1;
  options.embedding_scale = UnscaledEmbedding{};
  options.embedding_norm = true;
  options.output_transform = options.output_bias = true;
  options.positions = LearnedPositions{.max_length = 512};
  options.norm = LayerNorm{.eps = 1e-12};
  options.residual = PostNorm{};
}

void RobertaPreset::apply(ModelOptions& options) const {
  BertPreset().apply(options);
  options.norm = LayerNorm{};
}

void adopt(const PresetChoice& preset, ModelOptions& options) {
  std::visit([&](const auto& row) { row.apply(options); }, preset);
}

}  // namespace ballast
