#include "ballast/base/installed.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> module_folders() {
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

}  // namespace

void open_module(const std::string& name,
                 const std::function<std::string(const std::string& file)>& attempt) {
  std::string looked;
  for (const fs::path& folder : module_folders()) {
    const std::string file = (folder / name).lexically_normal().string();
    std::error_code none;
    const bool there = fs::exists(file, none);
    const std::string reason = there ? attempt(file) : "not there";
    if (reason.empty()) return;
    looked += fmt::format("\n  {}: {}", file, reason);
  }
  if (attempt(name).empty()) return;
  throw StoreError(fmt::format(
      "{} could not be loaded; looked for{}\ninstall Ballast again, or put it beside the program",
      name, looked));
}

}  // namespace ballast
