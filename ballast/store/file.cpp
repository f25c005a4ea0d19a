#include "ballast/store/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "ballast/base/error.h"

namespace ballast {

namespace {

constexpr size_t largest_transfer = size_t{1} << 30;  // Linux moves less than 2 GiB in one call

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int reason) {
  throw StoreError(fmt::format("{}: cannot {}: {}", path.string(), action,
                               std::generic_category().message(reason)));
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// A new file beside `path`, under the first of its names that nobody has.
std::pair<Descriptor, std::filesystem::path> new_sibling(const std::filesystem::path& path) {
  constexpr int most_names = 1000;
  for (int i = 0; i < most_names; ++i) {
    std::filesystem::path name = path;
    if (i > 0) name += fmt::format(".{}", i);
    name += partial_suffix;
    const int number = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number >= 0) return {Descriptor(number), name};
    if (errno != EEXIST) fail("open", path, errno);
  }
  throw StoreError(
      fmt::format("{}: {} files called {}.*{} are in the way; remove what killed "
                  "processes left of them",
                  path.string(), most_names, path.filename().string(), partial_suffix));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor open_file(const std::filesystem::path& path, int flags) {
  const int number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (number < 0) fail("open", path, errno);
  return Descriptor(number);
}

void write_all(const Descriptor& file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const auto written =
        ::write(file.number(), bytes.data(), std::min(bytes.size(), largest_transfer));
    if (written < 0 && errno != EINTR) fail("write", path, errno);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void sync(const Descriptor& file, const std::filesystem::path& path) {
  if (::fsync(file.number()) != 0) fail("put on the disk", path, errno);
}

void sync_directory(const std::filesystem::path& directory) {
  sync(open_file(directory, O_RDONLY | O_DIRECTORY), directory);
}

std::filesystem::path end_of_links(const std::filesystem::path& path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::filesystem::path here = path;
  std::error_code error;
  for (int i = 0; i < most_links; ++i) {
    const auto status = std::filesystem::symlink_status(here, error);
    if (!std::filesystem::is_symlink(status)) return here;
    const auto target = std::filesystem::read_symlink(here, error);
    if (error) fail("follow", here, error.value());
    here = here.parent_path() / target;
  }
  fail("open", path, ELOOP);
}

NewFile::NewFile(const std::filesystem::path& path) : path_(path) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) fail("write", path, EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) {
    file_ = open_file(path, O_WRONLY);
    return;
  }
  path_ = end_of_links(path);
  std::tie(file_, partial_) = new_sibling(path_);
  if (exists && ::fchmod(file_.number(), facts.st_mode & 07777) != 0) {
    // Such a disk has no permissions to hand down.
  }
}

NewFile::~NewFile() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void NewFile::write(std::string_view bytes) { write_all(file_, bytes, path_); }

void NewFile::commit() {
  if (partial_.empty()) return;
  sync(file_, path_);
  rename_durably(partial_, path_);
  partial_.clear();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.commit();
}

OutputStream::OutputStream(const std::filesystem::path& path)
    : name_(path == "-" ? "standard output" : path.string()) {
  if (path == "-") {
    file_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (file_.number() < 0) fail("open", name_, errno);
  } else {
    file_ = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  }
}

void OutputStream::write(std::string_view bytes) { write_all(file_, bytes, name_); }

void OutputStream::close() {
  struct stat facts {};
  const bool regular = ::fstat(file_.number(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (regular) sync(file_, name_);
  const int number = std::exchange(file_, Descriptor()).release();
  if (::close(number) != 0) fail("close", name_, errno);
}

void read_exactly(const Descriptor& file, void* into, size_t size, size_t offset,
                  const std::filesystem::path& path) {
  auto* place = static_cast<char*>(into);
  while (size > 0) {
    const auto got =
        ::pread(file.number(), place, std::min(size, largest_transfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) {
      throw StoreError(
          fmt::format("{}: ends at byte {}, {} bytes too early; it was cut off while it was read",
                      path.string(), offset, size));
    }
    place += got;
    offset += static_cast<size_t>(got);
    size -= static_cast<size_t>(got);
  }
}

size_t size_of_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("open", path, ENOENT);
  if (error) fail("open", path, error.value());
  if (!std::filesystem::is_regular_file(status)) {
    throw StoreError(fmt::format("{}: is not a regular file", path.string()));
  }
  const auto size = std::filesystem::file_size(path, error);
  if (error) fail("read", path, error.value());
  return size;
}

std::string read_file(const std::filesystem::path& path) {
  std::string text(size_of_file(path), '\0');
  read_exactly(open_file(path, O_RDONLY), text.data(), text.size(), 0, path);
  return text;
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("replace", to, errno);
  sync_directory(directory_of(to));
}

}  // namespace ballast
