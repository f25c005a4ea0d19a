#include "ballast/recipe/trial.h"

#include <algorithm>

#include "ballast/base/error.h"

namespace ballast {
namespace {

/// The text of a recipe that differs by an override, which is nearly always the same.
ExaminedText text_for(const Recipe& recipe, const Case& examined) {
  const ModelShape now = recipe.model.shape(), before = examined.recipe.model.shape();
  const bool reads_the_same = recipe.data == examined.recipe.data &&
                              now.has_source == before.has_source && now.target == before.target;
  return reads_the_same ? examined.text : examined_text(recipe);
}

TriedRemedy tried(const std::string& override, const Finding& finding, const Case& examined) {
  TriedRemedy made{.override = override};
  try {
    const Recipe recipe = examined.with(override);
    const ExaminedText text = text_for(recipe, examined);
    if (text.corpus->count() == 0) throw RecipeError("it leaves no text to train on");
    const Examination after = examination_of(recipe, text, examined.effort, examined.device);
    for (const Finding& each : findings(after)) {
      if (each.severity > Severity::note) made.others.push_back(each.name);
    }
    if (after.rehearsal) made.loss = rehearsed_loss(*after.rehearsal).last;
    made.helps = helps(finding.name, examined.examination, after);
  } catch (const RecipeError& error) {
    made.refusal = error.what();
  }
  return made;
}

}  // namespace

ExaminedText examined_text(const Recipe& recipe, const Oversight& oversight) {
  ExaminedText text{.tokenizers = make_tokenizers(recipe, oversight)};
  text.corpus = std::make_shared<EncodedCorpus>(
      encode_files(recipe, training_files(recipe.data), text.tokenizers, oversight));
  return text;
}

Examination examination_of(const Recipe& recipe, const ExaminedText& text,
                           const ExaminationEffort& effort, torch::Device device) {
  const PlannedModel planned = build_model(recipe, sizes_of(recipe, text.tokenizers));
  planned.model->to(device);
  calibrate_on(recipe, *planned.model, text.corpus);
  return examine(recipe, planned, text.corpus, text.tokenizers, effort);
}

bool helps(std::string_view finding, const Examination& before, const Examination& after) {
  const std::vector<Finding> left = findings(after);
  if (std::ranges::count(left, finding, &Finding::name) > 0) return false;
  if (!before.rehearsal || !after.rehearsal) return true;
  if (diverged(*after.rehearsal)) return false;
  constexpr double noise = 0.05;
  return diverged(*before.rehearsal) ||
         rehearsed_loss(*after.rehearsal).last <= rehearsed_loss(*before.rehearsal).last + noise;
}

std::vector<TriedRemedy> try_remedies(const Finding& finding, const Case& examined) {
  std::vector<TriedRemedy> all;
  for (const std::string& override : finding.remedy) {
    all.push_back(tried(override, finding, examined));
    if (all.back().helps) break;
  }
  return all;
}

}  // namespace ballast
