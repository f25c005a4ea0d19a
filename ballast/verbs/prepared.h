#pragma once

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
/// is done.
PreparedRun prepared_run(const Recipe& recipe, const std::filesystem::path& path);

/// A line a stack that has a profiled coefficient: its first, middle and last omega.
void print_profile(const Profile& profile);

}  // namespace ballast
