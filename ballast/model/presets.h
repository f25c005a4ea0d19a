#pragma once

#include <variant>

#include "ballast/base/choice.h"

namespace ballast {

struct ModelOptions;

// Published architectures. A row is a name, a formula, a source and
//
//     void apply(ModelOptions&) const;   sets what makes the architecture, but no size
//
// on options that have their defaults. What a recipe says beside it comes after, so that every
// single option can be another. Sizes (d_model, d_ff, heads, layers) are the recipe's to say.

struct NoPreset {
  static constexpr KindInfo info{"none", "the defaults of each option",
                                 "Vaswani et al. 2017, arXiv:1706.03762"};
  void apply(ModelOptions&) const {}
  bool operator==(const NoPreset&) const = default;
};

struct Gpt2Preset {
  static constexpr KindInfo info{
      "gpt2", "causal_lm, pre_norm, layer_norm, 1024 learned positions, gelu_tanh, tied",
      "Radford et al. 2019"};
  void apply(ModelOptions& options) const;
  bool operator==(const Gpt2Preset&) const = default;
};

/// As `train.py` runs it; its GPTConfig alone would have biases.
struct NanoGptPreset {
  static constexpr KindInfo info{"nanogpt", "gpt2 with gelu by erf, without biases and dropout",
                                 "https://github.com/karpathy/nanoGPT"};
  void apply(ModelOptions& options) const;
  bool operator==(const NanoGptPreset&) const = default;
};

/// Llama 2's; 3 has another base of its rotation (`positions = { kind = "rotary", base = 5e5 }`),
/// and both share keys and values among heads (`key_value_heads`).
struct LlamaPreset {
  static constexpr KindInfo info{"llama",
                                 "causal_lm, pre_norm, rms_norm, rotary, swiglu, no biases, untied",
                                 "Touvron et al. 2023, arXiv:2307.09288"};
  void apply(ModelOptions& options) const;
  bool operator==(const LlamaPreset&) const = default;
};

/// The 7B model has heads wider than d_model / heads (`head_width = 256`), the 2B model one head of
/// keys and values.
struct GemmaPreset {
  static constexpr KindInfo info{"gemma",
                                 "llama with 1 + gain, geglu_tanh, embeddings times sqrt(d), tied",
                                 "Gemma Team 2024, arXiv:2403.08295"};
  void apply(ModelOptions& options) const;
  bool operator==(const GemmaPreset&) const = default;
};

/// Up to a context of 4,096 tokens, beyond which every second layer of Gemma 2 sees only the last
/// 4,096 keys.
struct Gemma2Preset {
  static constexpr KindInfo info{
      "gemma2", "gemma with sandwich_norm, soft caps of 50 in attention and 30 on logits",
      "Gemma Team 2024, arXiv:2408.00118"};
  void apply(ModelOptions& options) const;
  bool operator==(const Gemma2Preset&) const = default;
};

/// Without embeddings of token types, which tell two texts of one sequence apart, and without the
/// prediction of the next sentence.
struct BertPreset {
  static constexpr KindInfo info{
      "bert", "masked_lm, post_norm, norm of the embedding, 512 learned positions, gelu, tied",
      "Devlin et al. 2018, arXiv:1810.04805"};
  void apply(ModelOptions& options) const;
  bool operator==(const BertPreset&) const = default;
};

/// What else is RoBERTa's lies in the data: a new masking every pass (the default), larger batches.
struct RobertaPreset {
  static constexpr KindInfo info{"roberta", "bert with eps = 1e-5 in its norms",
                                 "Liu et al. 2019, arXiv:1907.11692"};
  void apply(ModelOptions& options) const;
  bool operator==(const RobertaPreset&) const = default;
};

/// Every architecture that a recipe can name.
using PresetChoice = std::variant<NoPreset, Gpt2Preset, NanoGptPreset, LlamaPreset, GemmaPreset,
                                  Gemma2Preset, BertPreset, RobertaPreset>;

/// Sets what the row says.
void adopt(const PresetChoice& preset, ModelOptions& options);

}  // namespace ballast
