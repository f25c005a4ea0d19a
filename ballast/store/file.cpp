#include "ballast/store/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
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

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {
  partial_ += partial_suffix;
  ::unlink(partial_.c_str());  // left by a killed process, or a link set as a trap
  file_ = open_file(partial_, O_WRONLY | O_CREAT | O_EXCL);
}

NewFile::~NewFile() {
  if (!committed_) ::unlink(partial_.c_str());
}

void NewFile::write(std::string_view bytes) { write_all(file_, bytes, path_); }

void NewFile::commit() {
  sync(file_, path_);
  rename_durably(partial_, path_);
  committed_ = true;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.commit();
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
