#include "ballast/loops/few_rows_loops.h"

#include "ballast/loops/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/few_rows_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/bf16_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

/// The products of `rows` rows of x and `outputs` rows of W. Each has one sum, whose lanes are
/// added up at the end; the rows of W are streams that memory serves side by side.
template <size_t rows, size_t outputs, class T>
HWY_INLINE void multiply_block(const FewRows<T>& call, int64_t row, int64_t output) {
  const auto in = static_cast<size_t>(call.in);
  const T* x = call.x + row * call.in;
  const T* weight = call.weight + output * call.in;
  Vector sums[rows][outputs];
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (size_t o = 0; o < outputs; ++o) sums[r][o] = hn::Zero(Floats());
  }
  for_places(in, [&](auto at) HWY_ATTR {
    Vector left[rows];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) left[r] = at.load(x + r * in);
#pragma GCC unroll 8
    for (size_t o = 0; o < outputs; ++o) {
      const Vector right = at.load(weight + o * in);
#pragma GCC unroll 8
      for (size_t r = 0; r < rows; ++r) sums[r][o] = hn::MulAdd(left[r], right, sums[r][o]);
    }
  });
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r) {
    float* y = call.y + (row + static_cast<int64_t>(r)) * call.out + output;
#pragma GCC unroll 8
    for (size_t o = 0; o < outputs; ++o) y[o] = sum(sums[r][o]);
  }
}

/// All rows of x with `outputs` rows of W, which stay in the nearest cache meanwhile.
template <size_t outputs, class T>
HWY_INLINE void multiply_outputs(const FewRows<T>& call, int64_t output) {
  int64_t row = 0;
  for (; row + 4 <= call.rows; row += 4) multiply_block<4, outputs>(call, row, output);
  const int64_t rest = call.rows - row;
  if (rest == 3) multiply_block<3, outputs>(call, row, output);
  if (rest == 2) multiply_block<2, outputs>(call, row, output);
  if (rest == 1) multiply_block<1, outputs>(call, row, output);
}

template <class T>
void multiply_range(const FewRows<T>& call, int64_t begin, int64_t end) {
  int64_t output = begin;
  if (call.rows == 1) {
    for (; output + 8 <= end; output += 8) multiply_block<1, 8>(call, 0, output);
  }
  for (; output + 4 <= end; output += 4) multiply_outputs<4>(call, output);
  for (; output < end; ++output) multiply_outputs<1>(call, output);
}

void multiply_wide(const FewRows<float>& call, int64_t begin, int64_t end) {
  multiply_range(call, begin, end);
}

void multiply_narrow(const FewRows<uint16_t>& call, int64_t begin, int64_t end) {
  multiply_range(call, begin, end);
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(multiply_wide);
HWY_EXPORT(multiply_narrow);

/// body(begin, end) over rows of W, in tasks that are worth a thread and small enough to even out
/// what else the cores do.
template <class T, class Body>
void for_outputs(const FewRows<T>& call, const Body& body) {
  constexpr int64_t bytes = 131072, together = 8;
  const int64_t row = std::max<int64_t>(call.in, 1) * static_cast<int64_t>(sizeof(T));
  const int64_t least = (bytes / row / together + 1) * together;
  const RowBlocks blocks(call.out, least, call.out);
  for_each_task(blocks.count(),
                [&](int64_t block) { body(blocks.begin(block), blocks.end(block)); });
}

}  // namespace

void multiply_few_rows(const FewRows<float>& call) {
  for_outputs(call, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_wide)(call, begin, end);
  });
}

void multiply_few_rows(const FewRows<uint16_t>& call) {
  for_outputs(call, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(multiply_narrow)(call, begin, end);
  });
}

}  // namespace ballast
#endif
