#include "ballast/base/installed.h"

namespace ballast {

std::vector<std::filesystem::path> module_folders() {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  if (!program.empty()) {
    found.push_back(program);
    found.push_back(program / "../lib/ballast");
    found.push_back(program / ".." / BALLAST_INSTALL_LIBDIR / "ballast");
  }
  found.emplace_back(BALLAST_BUILD_DIR);
  found.push_back(fs::path(BALLAST_INSTALL_FULL_LIBDIR) / "ballast");
  return found;
}

}  // namespace ballast
