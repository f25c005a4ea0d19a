#pragma once

#include <filesystem>
#include <vector>

namespace ballast {

/// The folders in which modules of this program may lie, in the order they are looked through:
/// beside the running program, in `../lib/ballast` and the library folder of the installation from
/// there, in the build folder, and in the configured library folder.
std::vector<std::filesystem::path> module_folders();

}  // namespace ballast
