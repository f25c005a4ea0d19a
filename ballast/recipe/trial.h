#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ballast/recipe/examine.h"

namespace ballast {

/// What a recipe's text becomes.
struct ExaminedText {
  Tokenizers tokenizers;
  std::shared_ptr<const EncodedCorpus> corpus;
};

/// Learns or reads the vocabularies and encodes the training text.
ExaminedText examined_text(const Recipe& recipe, const Oversight& oversight = {});

/// Builds the model of a recipe, calibrates and examines it.
Examination examination_of(const Recipe& recipe, const ExaminedText& text,
                           const ExaminationEffort& effort, torch::Device device);

/// An override that was tried against a finding.
struct TriedRemedy {
  std::string override;
  std::string refusal = {};                   ///< why the recipe cannot be carried out with it
  std::vector<std::string_view> others = {};  ///< warnings and errors that it leaves or brings
  double loss = 0;  ///< average at the end of the rehearsal, nats per token
  bool helps = false;
};

/// Whether with a remedy a finding is gone, the rehearsal does not diverge, and ends with a loss
/// that is no more than 0.05 above that without the remedy, unless that one diverged.
bool helps(std::string_view finding, const Examination& before, const Examination& after);

/// A recipe that was examined.
struct Case {
  const Recipe& recipe;
  const ExaminedText& text;
  const Examination& examination;
  ExaminationEffort effort;
  torch::Device device;
  /// The recipe with one more override; raises RecipeError for what cannot be carried out.
  std::function<Recipe(const std::string&)> with;
};

/// Tries a finding's remedies, until one helps.
std::vector<TriedRemedy> try_remedies(const Finding& finding, const Case& examined);

}  // namespace ballast
