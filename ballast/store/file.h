#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "ballast/base/error.h"

namespace ballast {

/// Ending of what is not finished. Users have files with it too, so it alone is no leave to delete.
inline constexpr std::string_view partial_suffix = ".partial";

/// An open file of the system, closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int number() const { return number_; }
  /// Hands the number to the caller, who is to close it.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Opens with the flags of open(2), close-on-exec; throws StoreError with the path and the reason.
Descriptor open_file(const std::filesystem::path& path, int flags);

/// Writes all bytes at the current position; throws StoreError, for example when the disk is full.
void write_all(const Descriptor& file, std::string_view bytes, const std::filesystem::path& path);

/// Waits until the file is on the disk.
void sync(const Descriptor& file, const std::filesystem::path& path);

/// Waits until the names in a directory are on the disk.
void sync_directory(const std::filesystem::path& directory);

/// The file that a path leads to: links are followed to their end, also to where nothing is yet.
/// Throws StoreError for links that lead in a circle.
std::filesystem::path end_of_links(const std::filesystem::path& path);

/// A file that appears whole or not at all: it grows as a sibling called `<path>.partial`, or
/// `<path>.1.partial` and so on where that name is taken, and `commit` puts it on the disk and
/// gives it its name. Without `commit` the sibling is removed and whatever was at `path` stays.
///
/// Links are followed. A file that is replaced hands down its permissions. What is no regular file
/// (FIFO, device) is not replaced but written into, at once. Every member throws StoreError with
/// the path and the system's reason.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_, partial_;  // partial_ is empty where path_ is written into
  Descriptor file_;
};

/// Writes a whole file through `NewFile`.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Where a stream of results goes, as the shell's `>` would send it: what was there is emptied,
/// links are followed, FIFOs and devices are written into, and what was written so far stays if the
/// process is killed. "-" is standard output. Nothing is held back in a buffer. Every member throws
/// StoreError with the path and the system's reason.
class OutputStream {
 public:
  explicit OutputStream(const std::filesystem::path& path);

  void write(std::string_view bytes);
  /// Closes, where a network's disk may only now say that it is full. Regular files are synced.
  void close();

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Descriptor file_;
};

/// Runs an operation of std::filesystem; throws StoreError with `path` and the system's reason
/// where it fails.
template <class Operation>
auto checked(const std::filesystem::path& path, Operation operation) {
  try {
    return operation();
  } catch (const std::filesystem::filesystem_error& error) {
    throw StoreError(fmt::format("{}: {}", path.string(), error.code().message()));
  }
}

/// The whole of a regular file; throws StoreError when it is missing or is something else.
std::string read_file(const std::filesystem::path& path);

/// Reads exactly `size` bytes that begin at `offset`; throws StoreError when the file ends before.
void read_exactly(const Descriptor& file, void* into, size_t size, size_t offset,
                  const std::filesystem::path& path);

/// Size in bytes of a regular file; throws StoreError when it is missing or is something else.
size_t size_of_file(const std::filesystem::path& path);

/// Moves `from` to `to` and waits until the change is on the disk. Both lie in one directory.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace ballast
