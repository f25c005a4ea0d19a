#pragma once

#include "ballast/prepare/calibrate.h"
#include "ballast/recipe/assemble.h"
#include "ballast/store/run_directory.h"

namespace ballast {

/// The recipe's text as ids, from the run's cache where it still fits, saying what is done.
PreparedData prepared_data(const Recipe& recipe, RunDirectory& directory);

/// A line a stack that has a profiled coefficient: its first, middle and last omega.
void print_profile(const Profile& profile);

}  // namespace ballast
