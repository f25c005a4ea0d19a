#include "ballast/loops/dropout_loops.h"

#include <vector>

#include "ballast/loops/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/dropout_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/philox_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

void drop_range(const DropRows& call, const RowBlocks& blocks, int64_t block, const float* from,
                float* to) {
  std::vector<float> factors(call.columns);
  for (int64_t row = blocks.begin(block); row < blocks.end(block); ++row) {
    drop_factors_of_row(call.drop, row, call.columns, factors.data());
    const float* x = from + row * call.columns;
    float* y = to + row * call.columns;
    for_vectors(call.columns, [&](size_t, auto load, auto store)
                                  HWY_ATTR { store(hn::Mul(load(x), load(factors.data())), y); });
  }
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(drop_range);

}  // namespace

void drop_rows(const DropRows& call, const float* from, float* to) {
  const RowBlocks blocks(call.rows, 16, 64);
  for_each_task(blocks.count(), [&](int64_t task) {
    HWY_DYNAMIC_DISPATCH(drop_range)(call, blocks, task, from, to);
  });
}

}  // namespace ballast
#endif
