#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ballast/base/philox.h"
#include "ballast/recipe/examine.h"

// A small recipe with a text and a model, for the tests of what a doctor finds.

namespace ballast::testing_doctor {

inline constexpr int64_t words = 120;

/// What is to be examined: everything that a plant may spoil.
struct Patient {
  Recipe recipe;
  EncodedCorpus text;
  std::function<void(PlannedModel&)> spoil = [](PlannedModel&) {};
};

/// Pairs of random words, the target as long as the source give or take one.
inline EncodedCorpus random_pairs(int64_t pairs) {
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

inline Tokenizers some_tokenizers() {
  std::vector<std::string> list{"<pad>", "<unk>", "<s>", "</s>"};
  for (int64_t i = 0; i < words; ++i) list.push_back("w" + std::to_string(i));
  return Tokenizer::from_words(list, "words");
}

inline Patient healthy() {
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

inline std::vector<Finding> found_in(const Patient& patient) {
  const auto corpus = std::make_shared<EncodedCorpus>(patient.text);
  const Tokenizers tokenizers = some_tokenizers();
  PlannedModel planned = build_model(patient.recipe, sizes_of(patient.recipe, tokenizers));
  calibrate_on(patient.recipe, *planned.model, corpus);
  {
    const torch::NoGradGuard no_grad;
    patient.spoil(planned);
  }
  return findings(examine(patient.recipe, planned, corpus, tokenizers, {.tokens = 512}));
}

inline torch::Tensor parameter(const PlannedModel& model, const std::string& name) {
  return model.model->named_parameters()[name];
}

inline Adam adam_with_rate(double lr) {
  Adam adam;
  adam.lr = lr;
  return adam;
}

}  // namespace ballast::testing_doctor
