#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ballast/decode/beam_search.h"
#include "ballast/model/inventory.h"
#include "ballast/store/safetensors.h"

namespace ballast {
namespace {

// A trained pre-norm model of somebody else's, with outputs computed by an independent program in
// double precision: 6 + 6 layers, width 32, 8 heads, separate vocabularies, output bias.
const std::string folder = std::string(BALLAST_SHARED_DATA) + "/aren-transliteration/";

using Weights = std::map<std::string, torch::Tensor>;

Weights read_weights() {
  Weights weights;
  for (NamedTensor& each : read_safetensors(folder + "model.safetensors").tensors) {
    weights[each.name] = each.value;
  }
  return weights;
}

void assign(const torch::Tensor& parameter, const torch::Tensor& value) {
  const torch::NoGradGuard no_grad;
  ASSERT_EQ(parameter.sizes(), value.sizes());
  torch::Tensor(parameter).copy_(value);
}

void set_linear(const Linear& linear, const Weights& from, const std::string& name,
                std::pair<int64_t, int64_t> rows) {
  assign(linear.weight, from.at(name + "/weight").slice(0, rows.first, rows.second));
  assign(linear.bias, from.at(name + "/bias").slice(0, rows.first, rows.second));
}

void set_norm(const Norm& norm, const Weights& from, const std::string& name) {
  assign(norm.gain, from.at(name + "/gamma"));
  assign(norm.bias, from.at(name + "/beta"));
}

constexpr int64_t d = 32;

void set_self_attention(const Block& block, const Weights& from, const std::string& name) {
  set_linear(*block.branch<Attention>(Sublayer::self_attention).query, from, name + "/linear_0",
             {0, d});
  set_linear(*block.branch<Attention>(Sublayer::self_attention).key, from, name + "/linear_0",
             {d, 2 * d});
  set_linear(*block.branch<Attention>(Sublayer::self_attention).value, from, name + "/linear_0",
             {2 * d, 3 * d});
  set_linear(*block.branch<Attention>(Sublayer::self_attention).output, from, name + "/linear_1",
             {0, d});
  set_norm(*block.at(Sublayer::self_attention).residual->norm_at(Point::read), from,
           name + "/layer_norm");
}

void set_cross_attention(const Block& block, const Weights& from, const std::string& name) {
  set_linear(*block.branch<Attention>(Sublayer::cross_attention).query, from, name + "/linear_0",
             {0, d});
  set_linear(*block.branch<Attention>(Sublayer::cross_attention).key, from, name + "/linear_1",
             {0, d});
  set_linear(*block.branch<Attention>(Sublayer::cross_attention).value, from, name + "/linear_1",
             {d, 2 * d});
  set_linear(*block.branch<Attention>(Sublayer::cross_attention).output, from, name + "/linear_2",
             {0, d});
  set_norm(*block.at(Sublayer::cross_attention).residual->norm_at(Point::read), from,
           name + "/layer_norm");
}

void set_feed_forward(const Block& block, const Weights& from, const std::string& name) {
  set_linear(*block.branch<FeedForward>(Sublayer::feed_forward).in, from, name + "/linear_0",
             {0, 4 * d});
  set_linear(*block.branch<FeedForward>(Sublayer::feed_forward).out, from, name + "/linear_1",
             {0, d});
  set_norm(*block.at(Sublayer::feed_forward).residual->norm_at(Point::read), from,
           name + "/layer_norm");
}

void set_stack(const BlockStack& stack, const Weights& from, const std::string& name) {
  for (size_t i = 0; i < stack.blocks.size(); ++i) {
    const std::string layer = name + "/layer_" + std::to_string(i);
    set_self_attention(*stack.blocks[i], from, layer + "/self_attention");
    if (stack.blocks[i]->connections.size() == 3) {
      set_cross_attention(*stack.blocks[i], from, layer + "/attention");
    }
    set_feed_forward(*stack.blocks[i], from, layer + "/ffn");
  }
  set_norm(*stack.norm_at(Point::stack), from, name + "/layer_norm");
}

std::shared_ptr<Transformer> trained_model() {
  const ModelOptions options{.d_model = d,
                             .d_ff = 4 * d,
                             .heads = 8,
                             .encoder_layers = 6,
                             .decoder_layers = 6,
                             .dropout = 0,
                             .share_embeddings = EmbeddingSharing::none,
                             .output_bias = true,
                             .residual = PreNorm{}};
  auto model = std::make_shared<Transformer>(options, VocabularySizes{51, 43});
  const Weights weights = read_weights();
  assign(model->source_embedding->weight, weights.at("encoder/embeddings/weight"));
  assign(model->target_embedding->weight, weights.at("decoder/embeddings/weight"));
  assign(model->output->weight(), weights.at("decoder/projection/weight"));
  assign(model->output->bias, weights.at("decoder/projection/bias"));
  set_stack(*model->encoder, weights, "encoder");
  set_stack(*model->decoder, weights, "decoder");
  model->eval();
  return model;
}

std::vector<std::string> read_vocabulary(const std::string& name) {
  std::ifstream file(folder + name);
  std::vector<std::string> words;
  for (std::string line; std::getline(file, line);) words.push_back(line);
  return words;
}

/// Splits UTF-8 text into characters, as ids of the vocabulary; unknown ones are one past its end.
std::vector<int64_t> letters(const std::string& text, const std::vector<std::string>& vocabulary) {
  std::vector<int64_t> ids;
  for (size_t i = 0; i < text.size();) {
    size_t length = 1;
    while (i + length < text.size() && (text[i + length] & 0xC0) == 0x80) ++length;
    const auto found = std::find(vocabulary.begin(), vocabulary.end(), text.substr(i, length));
    ids.push_back(found - vocabulary.begin());
    i += length;
  }
  return ids;
}

Packed one(const std::vector<int64_t>& ids) {
  const auto length = static_cast<int64_t>(ids.size());
  return {torch::tensor(ids, torch::kInt64), Segments::packed(std::array{length})};
}

class Transliteration : public ::testing::Test {
 protected:
  std::string text_of(const Hypothesis& hypothesis) const {
    std::string text;
    for (const int64_t id : hypothesis.tokens) text += target_words_.at(id);
    return text;
  }

  std::vector<Hypothesis> search(const std::string& source, int64_t beam) const {
    const DecodeOptions options{.beam = beam, .alpha = beam == 1 ? 0.0 : 1.0};
    const SpecialIds special{.padding = 0, .begin = 1, .end = 2};
    return beam_search(*model_, one(letters(source, source_words_)), options, special)[0];
  }

  std::shared_ptr<Transformer> model_ = trained_model();
  std::vector<std::string> source_words_ = read_vocabulary("source_vocabulary.txt");
  std::vector<std::string> target_words_ = read_vocabulary("target_vocabulary.txt");
  nlohmann::json expected_ = nlohmann::json::parse(std::ifstream(folder + "expected.json"));
};

TEST_F(Transliteration, GreedySearchGivesTheGoldenOutputsAndLogProbabilities) {
  for (const auto& item : expected_["cases"]) {
    const Hypothesis best = search(item["source"], 1)[0];
    EXPECT_EQ(text_of(best), item["greedy"].get<std::string>());
    EXPECT_NEAR(best.log_probability, item["greedy_logprob_sum_with_eos"].get<double>(), 1e-4);
  }
}

// Which hypotheses beyond the best come out depends on when a search stops; what they score does
// not.
TEST_F(Transliteration, BeamSearchGivesTheGoldenOutputAndTheScoresOfAllHypothesesItShares) {
  int shared = 0;
  for (const auto& item : expected_["cases"]) {
    std::map<std::string, double> wanted;
    for (const auto& each : item["beam4_lengthnorm"]) wanted[each[0]] = each[1];
    const std::vector<Hypothesis> found = search(item["source"], 4);
    EXPECT_EQ(text_of(found[0]), item["beam4_lengthnorm"][0][0].get<std::string>());
    for (const Hypothesis& each : found) {
      const auto same = wanted.find(text_of(each));
      if (same == wanted.end()) continue;
      EXPECT_NEAR(each.score, same->second, 1e-4);
      ++shared;
    }
  }
  EXPECT_GE(shared, 60);  // of 64
}

TEST_F(Transliteration, TeacherForcedLogProbabilitiesAgree) {
  const auto& forced = expected_["teacher_forced"];
  std::vector<int64_t> input;
  for (const auto& word : forced["decoder_input"]) {
    const auto found =
        std::find(target_words_.begin(), target_words_.end(), word.get<std::string>());
    input.push_back(found - target_words_.begin());
  }
  const Packed source = one(letters(forced["source"], source_words_));
  const torch::Tensor log_p =
      torch::log_softmax(model_->logits(model_->forward(source, one(input))), -1);
  for (size_t t = 0; t < input.size(); ++t) {
    const int64_t next = t + 1 < input.size() ? input[t + 1] : 2;
    EXPECT_NEAR(log_p[static_cast<int64_t>(t)][next].item<double>(),
                forced["log_probs_of_next"][t].get<double>(), 1e-4);
  }
}

TEST_F(Transliteration, TheEncoderOutputAgrees) {
  const Memory memory =
      model_->encode(one(letters(expected_["cases"][0]["source"], source_words_)));
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(memory.rows.rows[0][i].item<double>(),
                expected_["encoder_output_first_row_first8"][i].get<double>(), 1e-4);
  }
  EXPECT_NEAR(memory.rows.rows.sum().item<double>(), expected_["encoder_output_sum"].get<double>(),
              1e-3);
}

}  // namespace
}  // namespace ballast
