#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace ballast {

/// The bytes of a file, where the kernel has them: memory is used as far as there is some. Copies
/// share the mapping, which lasts as long as one of them, also when the file is removed.
class MappedFile {
 public:
  /// Nothing where there is no regular file with bytes in it that can be read. Raises ResourceError
  /// when the address space does not suffice.
  static std::optional<MappedFile> open(const std::filesystem::path& file);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace ballast
