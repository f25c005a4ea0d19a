#include "ballast/store/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <system_error>

#include "ballast/base/error.h"
#include "ballast/store/run_names.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

/// Makes a folder and those around it; returns the ones that were not there.
std::vector<fs::path> make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code error;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  for (fs::path at = whole; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  fs::create_directories(folder, error);
  if (error) throw StoreError(fmt::format("{}: {}", folder.string(), error.message()));
  std::ranges::reverse(missing);
  return missing;
}

void refuse_foreign(const fs::path& directory) {
  const auto names = names_of_a_run(directory);
  if (names.empty()) return;
  throw StoreError(
      fmt::format("{}: is not a run, but has files that a training would write over ({}); name "
                  "another directory for the run",
                  directory.string(), fmt::join(names, ", ")));
}

/// False when a name no longer leads to the open file: who held the lock before took it away.
bool is_still_at(const fs::path& path, const Descriptor& file) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file.number(), &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

void lock(const Descriptor& file, const fs::path& path) {
  if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  if (reason != EWOULDBLOCK) {
    throw StoreError(
        fmt::format("{}: cannot lock: {}", path.string(), std::generic_category().message(reason)));
  }
  throw StoreError(fmt::format(
      "{}: another training writes into this directory; wait for it to end or name another one",
      path.parent_path().string()));
}

}  // namespace

RunLock::RunLock(const fs::path& directory) : directory_(directory) {
  constexpr int most_attempts = 100;
  for (int i = 0; i < most_attempts; ++i) {
    if (attempt()) return;
  }
  throw StoreError(fmt::format("{}: cannot lock: the lock comes and goes", directory.string()));
}

bool RunLock::attempt() {
  for (fs::path& each : make_folders(directory_)) made_.push_back(std::move(each));
  found_run_ = is_run(directory_);
  if (!found_run_) refuse_foreign(directory_);
  const fs::path path = directory_ / lock_name;
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  made_lock_ = number >= 0;
  file_ = made_lock_ ? Descriptor(number) : open_file(path, O_RDWR | O_CREAT);
  lock(file_, path);
  if (!is_still_at(path, file_)) return false;
  if (size_of_file(path) == 0) write_all(file_, lock_text, path);
  return true;
}

RunLock::~RunLock() {
  if (file_.number() < 0 || !made_lock_) return;
  try {
    if (!names_of_a_run(directory_).empty()) return;
  } catch (const Error&) {
    return;
  }
  ::unlink((directory_ / lock_name).c_str());
  for (const fs::path& each : made_ | std::views::reverse) ::rmdir(each.c_str());
}

}  // namespace ballast
