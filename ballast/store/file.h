#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace ballast {

/// Ending of what is not finished: a file or directory with it may be deleted by anyone who holds
/// the run directory's lock.
inline constexpr std::string_view partial_suffix = ".partial";

/// An open file of the system, closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int number() const { return number_; }

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

/// A file that appears whole or not at all: it grows as a sibling called `<path>.partial`, and
/// `commit` puts it on the disk and gives it its name. Without `commit` the sibling is removed and
/// whatever was at `path` stays. Every member throws StoreError with the path and the system's
/// reason.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_, partial_;
  Descriptor file_;
  bool committed_ = false;
};

/// Writes a whole file through `NewFile`.
void write_file(const std::filesystem::path& path, std::string_view bytes);

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
