#include "ballast/base/tensor_pool.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

namespace ballast {
namespace {

/// Best fit with a tree of the free blocks, lying in the memory that it manages. All blocks have
/// libtorch's alignment: asked of a single block it would need a larger one than that just freed.
using Heap =
    boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family,
                                         boost::interprocess::offset_ptr<void>, c10::gAlignment>;

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t least_pooled = std::size_t{1} << 16;

struct Region {
  std::byte* begin;
  std::size_t size;

  bool holds(const void* block) const {
    const std::less<const void*> before;
    return !before(block, begin) && before(block, begin + size);
  }
};

/// Addresses without memory behind them; `begin` is null where the system refuses.
Region reserved() {
  const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / huge_page * huge_page;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return {nullptr, 0};
  madvise(at, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(at), size};
}

class TensorPool : public c10::Allocator {
 public:
  explicit TensorPool(Region region)
      : region_(region), heap_(new (region.begin) Heap(region.size, 0)) {}

  // In libtorch 1.13 `allocate` is const and nothing is copied; in 2.x it is not and `copy_data` is
  // asked for. What is there overrides, so none of them can say that it does.
  // NOLINTBEGIN(modernize-use-override)
  c10::DataPtr allocate(std::size_t bytes) const;
  c10::DataPtr allocate(std::size_t bytes) { return std::as_const(*this).allocate(bytes); }
  c10::DeleterFnPtr raw_deleter() const;
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // NOLINTEND(modernize-use-override)

  void release(void* block) {
    if (!region_.holds(block)) return c10::free_cpu(block);
    const std::scoped_lock lock(mutex_);
    heap_->deallocate(block);
  }

 private:
  void* pooled(std::size_t bytes) const {
    if (bytes < least_pooled) return nullptr;
    const std::scoped_lock lock(mutex_);
    return heap_->allocate(bytes);
  }

  Region region_;
  Heap* heap_;
  mutable std::mutex mutex_;
};

/// The process's pool: tensors may outlive everything else, so it is never destroyed.
TensorPool* pool = nullptr;

c10::DataPtr TensorPool::allocate(std::size_t bytes) const {
  void* block = pooled(bytes);
  if (block == nullptr) block = c10::alloc_cpu(bytes);
  return {block, block, raw_deleter(), c10::DeviceType::CPU};
}

c10::DeleterFnPtr TensorPool::raw_deleter() const {
  return [](void* block) { pool->release(block); };
}

}  // namespace

void pool_large_tensors() {
  static std::once_flag once;
  std::call_once(once, [] {
    const Region region = reserved();
    if (region.begin == nullptr) return;
    pool = new TensorPool(region);
    constexpr uint8_t above_the_default = 1;
    c10::SetCPUAllocator(pool, above_the_default);
  });
}

}  // namespace ballast
