#include <gtest/gtest.h>
#include <torch/utils.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ballast/base/sampling.h"
#include "ballast/model/inventory.h"
#include "ballast/testing/toy.h"

// Every preset against the same model written out in stock libtorch operations, without anything of
// ours but the values of the weights, one sequence at a time.

namespace ballast {
namespace {

using torch::Tensor;

constexpr int64_t d_model = 16, layers = 3, vocabulary = 23;

/// Weights of a model by our names; undefined where it has none of that name.
struct Weights {
  std::map<std::string, Tensor> all;

  Tensor operator()(const std::string& name) const {
    const auto found = all.find(name);
    return found == all.end() ? Tensor() : found->second;
  }
  Tensor linear(const Tensor& x, const std::string& name) const {
    return at::linear(x, (*this)(name + ".weight"), (*this)(name + ".bias"));
  }
  Tensor layer_norm(const Tensor& x, const std::string& name, double eps) const {
    return at::layer_norm(x, {x.size(1)}, (*this)(name + ".gain"), (*this)(name + ".bias"), eps);
  }
};

/// Heads of rows: [T, H K] to [H, T, K], each of G groups for H / G heads.
Tensor heads_of(const Tensor& rows, int64_t groups, int64_t heads) {
  return rows.view({rows.size(0), groups, -1}).transpose(0, 1).repeat_interleave(heads / groups, 0);
}

Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, double cap) {
  Tensor scores = at::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
  if (cap > 0) scores = at::tanh(scores / cap) * cap;
  if (causal) {
    const Tensor later = at::triu(at::ones({q.size(1), q.size(1)}, at::kBool), 1);
    scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return at::matmul(at::softmax(scores, -1), v).transpose(0, 1).reshape({q.size(1), -1});
}

Tensor gpt2(const Weights& w, const Tensor& ids, int64_t heads, const char* approximation) {
  const int64_t length = ids.size(0);
  Tensor x = at::embedding(w("target_embedding.weight"), ids) +
             w("target_positions.table").slice(0, 0, length);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string block = "decoder.layers." + std::to_string(i) + ".";
    const auto within = [&](const char* name) { return block + name; };
    const Tensor h = w.layer_norm(x, within("self_attention_residual.norm_in"), 1e-5);
    const auto projected = [&](const char* name) {
      return heads_of(w.linear(h, within(name)), heads, heads);
    };
    const Tensor seen = attended(projected("self_attention.query"), projected("self_attention.key"),
                                 projected("self_attention.value"), true, 0);
    x = x + w.linear(seen, within("self_attention.output"));
    const Tensor g = w.layer_norm(x, within("feed_forward_residual.norm_in"), 1e-5);
    const Tensor hidden = at::gelu(w.linear(g, within("feed_forward.in")), approximation);
    x = x + w.linear(hidden, within("feed_forward.out"));
  }
  return at::linear(w.layer_norm(x, "decoder.final_norm", 1e-5), w("target_embedding.weight"));
}

struct LlamaLike {
  int64_t heads = 4, groups = 2;
  double base = 1e4, eps = 1e-5, of_gain = 0, of_tokens = 1, cap = 0, logit_cap = 0;
  bool is_sandwich = false, is_gelu = false;
};

/// Pairs of features i and i + K/2 of [H, T, K] as complex numbers, turned by their places.
Tensor turned(const Tensor& x, double base) {
  const int64_t half = x.size(2) / 2;
  const Tensor steps = at::arange(half, at::kDouble) / static_cast<double>(half);
  const Tensor angles = at::outer(at::arange(x.size(1), at::kDouble), at::pow(base, -steps));
  const Tensor parts = at::complex(x.slice(2, 0, half), x.slice(2, half));
  const Tensor rotated = parts * at::polar(at::ones_like(angles), angles).to(parts.scalar_type());
  return at::cat({at::real(rotated), at::imag(rotated)}, 2);
}

Tensor llama(const Weights& w, const Tensor& ids, const LlamaLike& shape) {
  const auto norm = [&](const Tensor& x, const std::string& name) {
    const Tensor gain = w(name + ".gain") + shape.of_gain;
    return x * at::rsqrt(x.square().mean({1}, true) + shape.eps) * gain;
  };
  Tensor x = at::embedding(w("target_embedding.weight"), ids) * shape.of_tokens;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string block = "decoder.layers." + std::to_string(i) + ".";
    const auto added = [&](const Tensor& branch, const std::string& residual) {
      return x + (shape.is_sandwich ? norm(branch, block + residual + ".norm_mid") : branch);
    };
    const Tensor h = norm(x, block + "self_attention_residual.norm_in");
    const auto projected = [&](const std::string& name, int64_t groups) {
      return heads_of(w.linear(h, block + "self_attention." + name), groups, shape.heads);
    };
    const Tensor seen = attended(turned(projected("query", shape.heads), shape.base),
                                 turned(projected("key", shape.groups), shape.base),
                                 projected("value", shape.groups), true, shape.cap);
    x = added(w.linear(seen, block + "self_attention.output"), "self_attention_residual");
    const Tensor g = norm(x, block + "feed_forward_residual.norm_in");
    const std::vector<Tensor> in = w.linear(g, block + "feed_forward.in").chunk(2, 1);
    const Tensor gate = shape.is_gelu ? at::gelu(in[0], "tanh") : at::silu(in[0]);
    x = added(w.linear(gate * in[1], block + "feed_forward.out"), "feed_forward_residual");
  }
  const Tensor own = w("output.weight");
  const Tensor table = own.defined() ? own : w("target_embedding.weight");
  const Tensor logits = at::linear(norm(x, "decoder.final_norm"), table);
  return shape.logit_cap > 0 ? at::tanh(logits / shape.logit_cap) * shape.logit_cap : logits;
}

Tensor bert(const Weights& w, const Tensor& ids, int64_t heads, double eps) {
  Tensor x = at::embedding(w("target_embedding.weight"), ids) +
             w("target_positions.table").slice(0, 0, ids.size(0));
  x = w.layer_norm(x, "encoder.embedding_norm", eps);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string block = "encoder.layers." + std::to_string(i) + ".";
    const auto projected = [&](const std::string& name) {
      return heads_of(w.linear(x, block + "self_attention." + name), heads, heads);
    };
    const Tensor seen =
        attended(projected("query"), projected("key"), projected("value"), false, 0);
    x = w.layer_norm(x + w.linear(seen, block + "self_attention.output"),
                     block + "self_attention_residual.norm_out", eps);
    const Tensor hidden = at::gelu(w.linear(x, block + "feed_forward.in"));
    x = w.layer_norm(x + w.linear(hidden, block + "feed_forward.out"),
                     block + "feed_forward_residual.norm_out", eps);
  }
  const Tensor h =
      w.layer_norm(at::gelu(w.linear(x, "output.transform.dense")), "output.transform.norm", eps);
  return at::linear(h, w("target_embedding.weight"), w("output.bias"));
}

/// A model of the preset whose vectors have left their start, so that all of it takes part.
std::shared_ptr<Transformer> moved_model(const PresetChoice& preset) {
  ModelOptions options{.preset = preset};
  adopt(preset, options);
  options.d_model = d_model;
  options.d_ff = 24;
  options.heads = 4;
  options.encoder_layers = options.decoder_layers = layers;
  if (form_of(options.positions).rotary_base > 0) options.key_value_heads = 2;
  if (options.embedding_factor() != 1) options.head_width = 6;  // Gemma's
  auto model = std::make_shared<Transformer>(options, VocabularySizes{vocabulary, vocabulary});
  const Plan made = plan(*model, {.init = Fairseq{}});
  parameterize(made);
  initialize(made, 5);
  const torch::NoGradGuard no_grad;
  for (const InventoryEntry& each : inventory(*model).parameters) {
    if (!is_vector(each.facts.role)) continue;
    each.tensor.add_(uniform_numbers(each.tensor.sizes(), each.tensor.numel()) - 0.5);
  }
  model->eval();
  return model;
}

using Reference = std::function<Tensor(const Weights&, const Tensor&)>;

/// Largest difference of the logits, over the largest of them.
double difference(const std::shared_ptr<Transformer>& model, const Reference& reference,
                  torch::ScalarType type) {
  const torch::NoGradGuard no_grad;
  model->to(type);
  Weights weights;
  for (const auto& each : model->named_parameters()) weights.all[each.key()] = each.value();
  const Packed text = testing::toy_ids({7, 1, 12}, vocabulary, 4);
  const Tensor found = model->logits(model->forward({}, text));
  double most = 0, scale = 0;
  for (int64_t b = 0; b < text.segments.count(); ++b) {
    const int64_t begin = text.segments.begin(b), end = begin + text.segments.length(b);
    const Tensor expected = reference(weights, text.tokens.slice(0, begin, end));
    most = std::max(most, (found.slice(0, begin, end) - expected).abs().max().item<double>());
    scale = std::max(scale, expected.abs().max().item<double>());
  }
  return most / scale;
}

void expect_same(const PresetChoice& preset, const Reference& reference) {
  const auto model = moved_model(preset);
  EXPECT_LT(difference(model, reference, torch::kFloat32), 1e-5) << info_of(preset).name;
  EXPECT_LT(difference(model, reference, torch::kDouble), 1e-12) << info_of(preset).name;
}

TEST(ShapeReference, Gpt2AndNanoGpt) {
  expect_same(Gpt2Preset{}, [](const auto& w, const auto& ids) { return gpt2(w, ids, 4, "tanh"); });
  expect_same(NanoGptPreset{},
              [](const auto& w, const auto& ids) { return gpt2(w, ids, 4, "none"); });
}

TEST(ShapeReference, LlamaAndBothGemmas) {
  const auto by = [](const LlamaLike& shape) {
    return [shape](const Weights& w, const Tensor& ids) { return llama(w, ids, shape); };
  };
  expect_same(LlamaPreset{}, by({}));
  LlamaLike gemma{.eps = 1e-6, .of_gain = 1, .of_tokens = 4, .is_gelu = true};
  expect_same(GemmaPreset{}, by(gemma));
  gemma.cap = 50;
  gemma.logit_cap = 30;
  gemma.is_sandwich = true;
  expect_same(Gemma2Preset{}, by(gemma));
}

TEST(ShapeReference, BertAndRoberta) {
  expect_same(BertPreset{}, [](const auto& w, const auto& ids) { return bert(w, ids, 4, 1e-12); });
  expect_same(RobertaPreset{},
              [](const auto& w, const auto& ids) { return bert(w, ids, 4, 1e-5); });
}

}  // namespace
}  // namespace ballast
