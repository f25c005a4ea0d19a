#include "ballast/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ballast/base/error.h"

namespace ballast {

std::optional<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat facts {};
  const bool is_file = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  const auto size = is_file ? static_cast<std::size_t>(facts.st_size) : 0;
  void* at = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  const int failure = errno;
  ::close(descriptor);
  if (size == 0) return std::nullopt;
  if (at == MAP_FAILED) {
    throw ResourceError(fmt::format(
        "{}: {} bytes cannot be mapped: {}; raise the limit of address space (ulimit -v)",
        file.string(), size, std::strerror(failure)));
  }
  MappedFile made;
  made.owner_ = std::shared_ptr<const void>(
      at, [size](const void* address) { ::munmap(const_cast<void*>(address), size); });
  made.bytes_ = {static_cast<const std::byte*>(at), size};
  return made;
}

}  // namespace ballast
