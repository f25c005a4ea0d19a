#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "ballast/recipe/assemble.h"
#include "ballast/store/run_directory.h"
#include "ballast/values/calibrate.h"
#include "ballast/verbs/flags.h"

namespace ballast {

/// A run directory that holds this recipe, and the recipe's text as ids.
struct PreparedRun {
  RunDirectory directory;
  PreparedData data;
};

/// `load_recipe` for a run in `path`, which may have copies of the vocabularies that are given.
Recipe recipe_for(const RecipeFlags& flags, const std::filesystem::path& path);

/// Throws DataError when no sequence of a text is left to compute on; `option` says where the files
/// are named, such as "data.valid".
void refuse_empty(const Recipe& recipe, std::string_view option, const CorpusFiles& files,
                  const EncodedCorpus& corpus);

/// Opens or makes the directory, takes the text from its cache where that still fits, and says what
/// is done. Raises Stopped, with what the directory keeps, soon after `stop` was requested.
PreparedRun prepared_run(const Recipe& recipe, const std::filesystem::path& path,
                         const std::stop_token& stop);

/// Raises Stopped, as `prepared_run` does, when `stop` was requested.
void stop_before_training(const RunDirectory& directory, const Recipe& recipe,
                          const std::stop_token& stop);

/// A line on standard error for everything in the recipe that is hardly meant.
void print_doubts(const Recipe& recipe);

/// A line on standard error.
void print_remark(const std::string& text);

/// A line a stack that has a profiled coefficient: its first, middle and last omega.
void print_profile(const Profile& profile);

}  // namespace ballast
