#include "ballast/kernels/linear_loops.h"

#include "ballast/kernels/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/kernels/linear_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/kernels/vector_inl.h"

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

void finish_row(const Epilogue& epilogue, float* z, float* y) {
  with_activation(epilogue.activation, [&](auto f) HWY_ATTR {
    const Vector multiplier = constant(epilogue.multiplier);
    for_vectors(epilogue.columns, [&](size_t, auto load, auto store) HWY_ATTR {
      const Vector added = epilogue.bias == nullptr ? hn::Zero(Floats()) : load(epilogue.bias);
      const Vector whole = hn::MulAdd(load(z), multiplier, added);
      if (z != y) store(whole, z);
      store(f.value(whole), y);
    });
  });
}

void finish_rows(const Epilogue& epilogue, float* z, float* y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    finish_row(epilogue, z + row * epilogue.columns, y + row * epilogue.columns);
  }
}

void gradient_range(Activation activation, const float* gradient, const float* saved, float* out,
                    int64_t count) {
  with_activation(activation, [&](auto f) HWY_ATTR {
    for_vectors(count, [&](size_t, auto load, auto store)
                           HWY_ATTR { store(hn::Mul(load(gradient), f.slope(load(saved))), out); });
  });
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(finish_rows);
HWY_EXPORT(gradient_range);

/// Elements that are worth a thread.
constexpr int64_t grain = 16384;

}  // namespace

bool derivative_from_output(Activation activation) { return activation == Activation::relu; }

void finish_product(const Epilogue& epilogue, float* z, float* y) {
  const int64_t rows = grain / std::max<int64_t>(1, epilogue.columns) + 1;
  at::parallel_for(0, epilogue.rows, rows, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(finish_rows)(epilogue, z, y, begin, end);
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

}  // namespace ballast
#endif
