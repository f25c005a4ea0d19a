#include "ballast/kernels/linear_loops.h"

#include <vector>

#include "ballast/kernels/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/kernels/linear_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/kernels/bf16_inl.h"

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

struct Identity {
  static Vector value(Vector z) { return z; }
  static Vector slope(Vector) { return constant(1); }
};

struct Relu {
  /// Keeps NaN, which a maximum would turn into 0.
  static Vector value(Vector z) {
    const Vector zero = hn::Zero(Floats());
    return hn::IfThenElse(hn::Lt(z, zero), zero, z);
  }
  static Vector slope(Vector y) {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(Floats())), constant(1));
  }
};

struct Gelu {
  static Vector value(Vector z) { return hn::Mul(z, normal(z).below); }
  static Vector slope(Vector z) {
    const Normal law = normal(z);
    return hn::MulAdd(z, law.density, law.below);
  }
};

struct GeluTanh {
  static constexpr double scale = 2 * 0.79788456080286536, cubic = 0.044715;
  /// (1 + tanh(t)) / 2 is sigmoid(2 t).
  static Vector gate(Vector z) {
    const Vector inner = hn::MulAdd(hn::Mul(z, z), constant(cubic), constant(1));
    return sigmoid(hn::Mul(hn::Mul(z, constant(scale)), inner));
  }
  static Vector value(Vector z) { return hn::Mul(z, gate(z)); }
  static Vector slope(Vector z) {
    const Vector s = gate(z);
    const Vector inner = hn::MulAdd(hn::Mul(z, z), constant(3 * cubic), constant(1));
    const Vector rise = hn::Mul(hn::Mul(z, constant(scale)), inner);
    return hn::MulAdd(hn::Mul(s, hn::Sub(constant(1), s)), rise, s);
  }
};

struct Silu {
  static Vector value(Vector z) { return hn::Mul(z, sigmoid(z)); }
  static Vector slope(Vector z) {
    const Vector s = sigmoid(z);
    return hn::MulAdd(hn::Mul(s, hn::Sub(constant(1), s)), z, s);
  }
};

template <class Body>
void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::identity:
      return body(Identity());
    case Activation::relu:
      return body(Relu());
    case Activation::gelu:
      return body(Gelu());
    case Activation::gelu_tanh:
      return body(GeluTanh());
    case Activation::silu:
      return body(Silu());
  }
}

template <class T>
void finish_row(const Epilogue& epilogue, T* z, T* y) {
  with_activation(epilogue.activation, [&](auto f) HWY_ATTR {
    const Vector multiplier = constant(epilogue.multiplier);
    for_places(epilogue.columns, [&](auto at) HWY_ATTR {
      const Vector added = epilogue.bias == nullptr ? hn::Zero(Floats()) : at.load(epilogue.bias);
      const Vector whole = hn::MulAdd(at.load(z), multiplier, added);
      if (z != y) at.store(whole, z);
      at.store(f.value(whole), y);
    });
  });
}

template <class T>
void finish_rows(const Epilogue& epilogue, T* z, T* y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    finish_row(epilogue, z + row * epilogue.columns, y + row * epilogue.columns);
  }
}

void finish_wide(const Epilogue& epilogue, float* z, float* y, int64_t begin, int64_t end) {
  finish_rows(epilogue, z, y, begin, end);
}

void finish_narrow(const Epilogue& epilogue, uint16_t* z, uint16_t* y, int64_t begin, int64_t end) {
  finish_rows(epilogue, z, y, begin, end);
}

void gradient_range(Activation activation, const float* gradient, const float* saved, float* out,
                    int64_t count) {
  with_activation(activation, [&](auto f) HWY_ATTR {
    for_vectors(count, [&](size_t, auto load, auto store)
                           HWY_ATTR { store(hn::Mul(load(gradient), f.slope(load(saved))), out); });
  });
}

template <class T>
void narrow_row(const GradientRows<T>& call, int64_t row, float* sums) {
  const T* gradient = call.gradient + row * call.columns;
  const T* saved = call.saved == nullptr ? gradient : call.saved + row * call.columns;
  uint16_t* out = call.out + row * call.columns;
  with_activation(call.activation, [&](auto f) HWY_ATTR {
    for_places(call.columns, [&](auto at) HWY_ATTR {
      const Vector whole = hn::Mul(at.load(gradient), f.slope(at.load(saved)));
      at.store(whole, out);
      if (sums != nullptr) at.store(hn::Add(at.load(sums), whole), sums);
    });
  });
}

void narrow_wide(const GradientRows<float>& call, int64_t begin, int64_t end, float* sums) {
  for (int64_t row = begin; row < end; ++row) narrow_row(call, row, sums);
}

void narrow_narrow(const GradientRows<uint16_t>& call, int64_t begin, int64_t end, float* sums) {
  for (int64_t row = begin; row < end; ++row) narrow_row(call, row, sums);
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(finish_wide);
HWY_EXPORT(finish_narrow);
HWY_EXPORT(gradient_range);
HWY_EXPORT(narrow_wide);
HWY_EXPORT(narrow_narrow);

/// Elements that are worth a thread.
constexpr int64_t grain = 16384;

/// body(begin, end) over rows, in portions worth a thread.
template <class Body>
void for_rows(const Epilogue& epilogue, const Body& body) {
  const int64_t rows = grain / std::max<int64_t>(1, epilogue.columns) + 1;
  at::parallel_for(0, epilogue.rows, rows, body);
}

/// body(begin, end, sums) over blocks of rows, whose sums are added in their order.
template <class T, class Body>
void for_summed_rows(const GradientRows<T>& call, const Body& body) {
  const RowBlocks blocks(call.rows, 16, 32);
  const bool wanted = call.sums != nullptr;
  std::vector<float> parts(wanted ? blocks.count() * call.columns : 0, 0.0F);
  const auto part_of = [&](int64_t block) {
    return wanted ? parts.data() + block * call.columns : nullptr;
  };
  for_each_task(blocks.count(), [&](int64_t block) {
    body(blocks.begin(block), blocks.end(block), part_of(block));
  });
  for (int64_t block = 0; wanted && block < blocks.count(); ++block) {
    const float* part = part_of(block);
    for (int64_t i = 0; i < call.columns; ++i) call.sums[i] += part[i];
  }
}

}  // namespace

bool derivative_from_output(Activation activation) { return activation == Activation::relu; }

void finish_product(const Epilogue& epilogue, float* z, float* y) {
  for_rows(epilogue, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(finish_wide)(epilogue, z, y, begin, end);
  });
}

void finish_product(const Epilogue& epilogue, uint16_t* z, uint16_t* y) {
  for_rows(epilogue, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(finish_narrow)(epilogue, z, y, begin, end);
  });
}

void activation_gradient(const Epilogue& epilogue, const float* gradient, const float* saved,
                         float* out) {
  const int64_t count = epilogue.rows * epilogue.columns;
  at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_range)
    (epilogue.activation, gradient + begin, saved + begin, out + begin, end - begin);
  });
}

void narrow_gradient(const GradientRows<float>& call) {
  for_summed_rows(call, [&](int64_t begin, int64_t end, float* sums) {
    HWY_DYNAMIC_DISPATCH(narrow_wide)(call, begin, end, sums);
  });
}

void narrow_gradient(const GradientRows<uint16_t>& call) {
  for_summed_rows(call, [&](int64_t begin, int64_t end, float* sums) {
    HWY_DYNAMIC_DISPATCH(narrow_narrow)(call, begin, end, sums);
  });
}

}  // namespace ballast
#endif
