#include "ballast/recipe/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ballast/base/philox.h"

namespace ballast {
namespace {

constexpr int64_t words = 120;

/// What is to be examined: everything that a plant may spoil.
struct Patient {
  Recipe recipe;
  EncodedCorpus text;
  std::function<void(PlannedModel&)> spoil = [](PlannedModel&) {};
};

/// Pairs of random words, the target as long as the source give or take one.
EncodedCorpus random_pairs(int64_t pairs) {
  EncodedCorpus corpus;
  uint64_t counter = 0;
  const auto below = [&](uint64_t limit) {
    return static_cast<int32_t>(philox(7, counter++)[0] % limit);
  };
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t length = 3 + below(12);
    std::vector<int32_t> source, target{2};
    for (int64_t j = 0; j < length; ++j) source.push_back(4 + below(words));
    for (int64_t j = 0; j < length + below(2); ++j) target.push_back(4 + below(words));
    source.push_back(3);
    target.push_back(3);
    corpus.source.add(source);
    corpus.target.add(target);
  }
  return corpus;
}

Tokenizers some_tokenizers() {
  std::vector<std::string> list{"<pad>", "<unk>", "<s>", "</s>"};
  for (int64_t i = 0; i < words; ++i) list.push_back("w" + std::to_string(i));
  return Tokenizer::from_words(list, "words");
}

Patient healthy() {
  Patient patient;
  patient.recipe.model = {.d_model = 64,
                          .d_ff = 256,
                          .heads = 2,
                          .encoder_layers = 2,
                          .decoder_layers = 2,
                          .dropout = 0};
  patient.text = random_pairs(200);
  return patient;
}

std::vector<Finding> found_in(const Patient& patient) {
  const auto corpus = std::make_shared<EncodedCorpus>(patient.text);
  const Tokenizers tokenizers = some_tokenizers();
  PlannedModel planned = build_model(patient.recipe, sizes_of(tokenizers));
  calibrate_on(patient.recipe, *planned.model, corpus);
  {
    const torch::NoGradGuard no_grad;
    patient.spoil(planned);
  }
  return findings(examine(patient.recipe, planned, corpus, tokenizers, {.tokens = 512}));
}

torch::Tensor parameter(const PlannedModel& model, const std::string& name) {
  return model.model->named_parameters()[name];
}

Adam adam_with_rate(double lr) {
  Adam adam;
  adam.lr = lr;
  return adam;
}

struct Plant {
  const char* name;
  const char* cause;
  std::function<void(Patient&)> put;
};

const std::vector<Plant>& plants() {
  static const std::vector<Plant> all = {
      {"ForgottenRootOfHeadWidth", "attention_not_scaled",
       [](Patient& p) { p.recipe.model.scores = UnscaledScores{}; }},
      {"ForgottenRootInAnEncoderOnlyDeep", "attention_not_scaled",
       [](Patient& p) {
         p.recipe.model.scores = UnscaledScores{};
         p.recipe.model.encoder_layers = 6;
       }},
      {"QueriesMadeForNoScale", "attention_scaled_twice",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           for (PlannedParameter& each : m.plan.parameters) {
             if (each.entry.facts.role != Role::query) continue;
             each.entry.tensor.mul_(1 / std::sqrt(32.0));
             each.draw.std /= std::sqrt(32.0);
           }
         };
       }},
      {"LayersStartEqual", "layers_start_equal",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           parameter(m, "encoder.layers.1.feed_forward.in.weight")
               .copy_(parameter(m, "encoder.layers.0.feed_forward.in.weight"));
         };
       }},
      {"TruncationWithoutCorrection", "uncorrected_truncation",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           parameter(m, "encoder.layers.1.feed_forward.in.weight").mul_(0.87962566103423978);
         };
       }},
      {"FanOfTheFusedMatrix", "weights_off_plan",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           for (const char* part : {"query", "key", "value"}) {
             parameter(m, std::string("decoder.layers.0.self_attention.") + part + ".weight")
                 .mul_(1 / std::sqrt(2.0));
           }
         };
       }},
      {"WeightIsNaN", "not_finite",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           parameter(m, "decoder.layers.0.feed_forward.in.weight")[3][2] = NAN;
         };
       }},
      {"BothEndsOfABranchAreZero", "branch_without_gradient",
       [](Patient& p) {
         p.recipe.model.residual = ReZero{};
         p.spoil = [](PlannedModel& m) {
           parameter(m, "decoder.layers.1.feed_forward.out.weight").zero_();
         };
       }},
      {"DeepPostNorm", "deep_post_norm",
       [](Patient& p) {
         p.recipe.model.residual = PostNorm{};
         p.recipe.model.encoder_layers = p.recipe.model.decoder_layers = 18;
       }},
      {"TiedTableTooLarge", "logits_too_large",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           for (PlannedParameter& each : m.plan.parameters) {
             if (!is_embedding(each.entry.facts.role)) continue;
             each.entry.tensor.mul_(8);
             each.draw.std *= 8;
           }
         };
       }},
      {"TokensDrowned", "tokens_drowned",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           for (PlannedParameter& each : m.plan.parameters) {
             if (!is_embedding(each.entry.facts.role)) continue;
             each.entry.tensor.mul_(0.1);
             each.draw.std *= 0.1;
           }
         };
       }},
      {"DeadRelu", "dead_units",
       [](Patient& p) {
         p.spoil = [](PlannedModel& m) {
           parameter(m, "encoder.layers.0.feed_forward.in.bias").narrow(0, 0, 200).fill_(-10);
         };
       }},
      {"SaturatedTanh", "saturated_units",
       [](Patient& p) {
         p.recipe.model.activation = Tanh{};
         p.spoil = [](PlannedModel& m) {
           parameter(m, "encoder.layers.0.feed_forward.in.bias").fill_(6);
         };
       }},
      {"GradientDescentOnUnbalancedGradients", "unbalanced_gradients",
       [](Patient& p) {
         p.recipe.optimizer = Sgd{};
         p.spoil = [](PlannedModel& m) {
           for (PlannedParameter& each : m.plan.parameters) {
             const auto& site = each.entry.facts.site;
             if (!site || site->kind != Sublayer::feed_forward || site->layer > 0) continue;
             each.entry.tensor.mul_(0.005);
             each.draw.std *= 0.005;
           }
         };
       }},
      {"RateAboveStable", "rate_above_stable",
       [](Patient& p) {
         p.recipe.optimizer = adam_with_rate(1);
         p.recipe.schedule = ConstantOptions{};
       }},
      {"MostOfTheTargetIsSmoothing", "smoothing_too_strong",
       [](Patient& p) { p.recipe.train.label_smoothing = 0.5; }},
      {"SourceIsTarget", "source_is_target",
       [](Patient& p) {
         p.text.target = {};
         for (int64_t i = 0; i < p.text.source.count(); ++i) {
           std::vector<int32_t> target{2};
           target.insert(target.end(), p.text.source[i].begin(), p.text.source[i].end());
           p.text.target.add(target);
         }
       }},
      {"LinesShifted", "text_misaligned",
       [](Patient& p) {
         TokenLists shifted;
         const int64_t count = p.text.target.count();
         for (int64_t i = 0; i < count; ++i) shifted.add(p.text.target[(i + 1) % count]);
         p.text.target = std::move(shifted);
       }},
      {"TextRepeats", "text_repeats",
       [](Patient& p) {
         const int64_t count = p.text.count();
         for (int64_t i = 0; i < count; ++i) {
           const std::vector<int32_t> source(p.text.source[i].begin(), p.text.source[i].end());
           const std::vector<int32_t> target(p.text.target[i].begin(), p.text.target[i].end());
           p.text.source.add(source);
           p.text.target.add(target);
         }
       }},
      {"MuchIsDropped", "text_dropped", [](Patient& p) { p.text.dropped_long = 100; }},
      {"VocabularyOfAnotherText", "vocabulary_unfit",
       [](Patient& p) {
         TokenLists unknown;
         for (int64_t i = 0; i < p.text.source.count(); ++i) {
           std::vector<int32_t> ids(p.text.source[i].begin(), p.text.source[i].end());
           ids[0] = 1;
           unknown.add(ids);
         }
         p.text.source = std::move(unknown);
       }},
  };
  return all;
}

class Plants : public testing::TestWithParam<Plant> {};

TEST_P(Plants, IsTheFirstFinding) {
  Patient patient = healthy();
  GetParam().put(patient);
  const std::vector<Finding> found = found_in(patient);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().name, GetParam().cause) << found.front().evidence.measured;
}

INSTANTIATE_TEST_SUITE_P(Doctor, Plants, testing::ValuesIn(plants()),
                         [](const auto& info) { return std::string(info.param.name); });

struct Healthy {
  std::string name;
  std::function<void(Recipe&)> make;
};

std::vector<Healthy> healthy_recipes() {
  std::vector<Healthy> all;
  const auto add = [&](std::string name, std::function<void(Recipe&)> make) {
    all.push_back({std::move(name), std::move(make)});
  };
  const std::vector<ResidualChoice> schemes = {Admin{},    PreNorm{},    DeepNorm{}, ReZero{},
                                               SkipInit{}, LayerScale{}, SubNorm{},  PeriNorm{}};
  for (const ResidualChoice& scheme : schemes) {
    for (const int64_t depth : {2, 12}) {
      add(std::string(info_of(scheme).name) + std::to_string(depth), [=](Recipe& recipe) {
        recipe.model.residual = scheme;
        recipe.model.encoder_layers = recipe.model.decoder_layers = depth;
      });
    }
    add(std::string(info_of(scheme).name) + "_causal", [=](Recipe& recipe) {
      recipe.model.kind = ModelKind::causal_lm;
      recipe.model.residual = scheme;
      recipe.model.decoder_layers = 6;
    });
  }
  add("post_norm2", [](Recipe& recipe) { recipe.model.residual = PostNorm{}; });
  add("pre_norm60", [](Recipe& recipe) {
    recipe.model.residual = PreNorm{};
    recipe.model.encoder_layers = 60;
    recipe.model.decoder_layers = 12;
  });
  return all;
}

class HealthyRecipes : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyRecipes, GiveNoAlarm) {
  Patient patient = healthy();
  GetParam().make(patient.recipe);
  for (const Finding& each : found_in(patient)) {
    EXPECT_EQ(each.severity, Severity::note)
        << each.name << " at " << each.evidence.where << ": " << each.evidence.measured << " for "
        << each.evidence.expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Doctor, HealthyRecipes, testing::ValuesIn(healthy_recipes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ballast
