#pragma once

#include <stop_token>
#include <string>

#include "ballast/prepare/calibrate.h"
#include "ballast/recipe/assemble.h"
#include "ballast/store/run_directory.h"

namespace ballast {

/// A run directory that holds this recipe, and the recipe's text as ids.
struct PreparedRun {
  RunDirectory directory;
  PreparedData data;
};

/// Opens or makes the directory, takes the text from its cache where that still fits, and says what
/// is done. Raises Stopped, with what the directory keeps, soon after `stop` was requested.
PreparedRun prepared_run(const Recipe& recipe, const std::filesystem::path& path,
                         const std::stop_token& stop);

/// Raises Stopped, as `prepared_run` does, when `stop` was requested.
void stop_before_training(const RunDirectory& directory, const Recipe& recipe,
                          const std::stop_token& stop);

/// A line on standard error.
void print_remark(const std::string& text);

/// A line a stack that has a profiled coefficient: its first, middle and last omega.
void print_profile(const Profile& profile);

}  // namespace ballast
