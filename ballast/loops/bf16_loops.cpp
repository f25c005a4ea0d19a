#include "ballast/loops/bf16_loops.h"

#include "ballast/loops/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/bf16_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/bf16_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

void round_range(const float* from, uint16_t* to, int64_t count) {
  for_places(count, [&](auto at) HWY_ATTR { at.store(at.load(from), to); });
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(round_range);

/// Elements that are worth a thread.
constexpr int64_t grain = 32768;

}  // namespace

void round_elements(const float* from, uint16_t* to, int64_t count) {
  at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(round_range)(from + begin, to + begin, end - begin);
  });
}

}  // namespace ballast
#endif
