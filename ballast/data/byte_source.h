#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ballast {

/// The bytes of a file, decompressed.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills the front of `buffer` and returns how many bytes; 0 only at the end of the data.
  /// Raises DataError when the file cannot be read, is damaged or ends too early.
  virtual std::size_t read(std::span<char> buffer) = 0;

  /// Whether `read` would not have to wait for whoever writes the data. What is packed counts as
  /// ready where there are packed bytes, even if too few for one that is not.
  virtual bool ready() = 0;

  /// Bytes of the file that were taken so far, as they lie in it.
  virtual int64_t taken() const = 0;
};

/// Opens plain, gzip (RFC 1952, any number of members) or zstd (RFC 8878, any number of frames)
/// data; `-` is the standard input. The first bytes decide, not the name; the name counts only
/// where there are too few of them. Raises DataError for what is missing, a directory, unreadable
/// or packed in a way that is not supported.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file);

}  // namespace ballast
