#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/recipe/patient.h"

namespace ballast {
namespace {

using testing_doctor::adam_with_rate, testing_doctor::found_in, testing_doctor::healthy,
    testing_doctor::parameter, testing_doctor::Patient;

struct Plant {
  const char* name;
  const char* cause;
  std::function<void(Patient&)> put;
};

std::vector<Plant> value_plants() {
  return {
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
  };
}

std::vector<Plant> attention_plants() {
  return {
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
  };
}

std::vector<Plant> signal_plants() {
  return {
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
  };
}

std::vector<Plant> training_plants() {
  return {
      {"GradientDescentOnUnbalancedGradients", "unbalanced_gradients",
       [](Patient& p) {
         p.recipe.optimizer = Sgd{};
         p.spoil = [](PlannedModel& m) {
           for (PlannedParameter& each : m.plan.parameters) {
             const auto& site = each.entry.facts.site;
             if (is_vector(each.entry.facts.role) || !site || site->layer > 0) continue;
             if (site->kind != Sublayer::feed_forward) continue;
             each.entry.tensor.mul_(0.005);
             each.draw.std *= 0.005;
           }
         };
       }},
      {"RateAboveStable", "rate_above_stable",
       [](Patient& p) {
         Sgd sgd;
         sgd.lr = 100;
         p.recipe.optimizer = sgd;
         p.recipe.schedule = ConstantOptions{};
         p.recipe.train.clip_norm = 0;
       }},
      {"FirstRateOvershoots", "first_rate_overshoots",
       [](Patient& p) {
         p.recipe.optimizer = adam_with_rate(1);
         p.recipe.schedule = ConstantOptions{};
       }},
      {"MostOfTheTargetIsSmoothing", "smoothing_too_strong",
       [](Patient& p) { p.recipe.train.label_smoothing = 0.5; }},
  };
}

std::vector<Plant> text_plants() {
  return {
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
}

std::vector<Plant> plants() {
  std::vector<Plant> all;
  for (auto* family :
       {value_plants, attention_plants, signal_plants, training_plants, text_plants}) {
    for (Plant& each : family()) all.push_back(std::move(each));
  }
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

}  // namespace
}  // namespace ballast
