#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ballast/recipe/open_run.h"
#include "ballast/train/text_evaluation.h"
#include "ballast/verbs/flags.h"

namespace ballast {

/// Files, and what named them.
struct NamedFiles {
  std::string option;
  std::vector<std::string> files;
};

/// Sizes of the text and what goes by them, by name.
nlohmann::ordered_json measures_of(const TextEvaluation& found);

/// The same in two lines.
std::string measures_text(const TextEvaluation& found);

/// Evaluates a run's language model on a text, in sliding windows, and prints the result.
void print_text_evaluation(const EvaluateFlags& flags, const NamedFiles& text, OpenedRun& run);

/// Scores the continuations of `flags.continuations`; prints an object of JSON for each item.
void print_continuations(const EvaluateFlags& flags, OpenedRun& run);

}  // namespace ballast
