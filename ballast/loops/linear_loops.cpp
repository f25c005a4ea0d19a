#include "ballast/loops/linear_loops.h"

#include <vector>

#include "ballast/loops/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/loops/linear_loops.cpp"
#include <hwy/foreach_target.h>

#include "ballast/loops/bf16_inl.h"

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

struct ReluSquared {
  static Vector value(Vector z) { return hn::Mul(Relu::value(z), Relu::value(z)); }
  static Vector slope(Vector z) { return hn::Add(Relu::value(z), Relu::value(z)); }
};

struct Sigmoid {
  static Vector value(Vector z) { return sigmoid(z); }
  static Vector slope(Vector z) {
    const Vector s = sigmoid(z);
    return hn::Mul(s, hn::Sub(constant(1), s));
  }
};

/// f(g) * u of a row [g | u].
template <class F>
struct Gated {};

/// A function and its loop.
template <Elementwise function, class F>
struct Row {};

/// Calls the loop of the row that is the activation's, if there is one.
template <class Body, Elementwise... functions, class... F>
void dispatch(const Activation& activation, const Body& body, Row<functions, F>...) {
  const auto run = [&](auto f) {
    using Loop = decltype(f);
    if (activation.gated) return body(Gated<Loop>());
    body(f);
  };
  (void)((functions == activation.function ? (run(F()), true) : false) || ...);
}

template <class Body>
void with_activation(const Activation& activation, const Body& body) {
  dispatch(activation, body, Row<Elementwise::identity, Identity>(), Row<Elementwise::relu, Relu>(),
           Row<Elementwise::gelu, Gelu>(), Row<Elementwise::gelu_tanh, GeluTanh>(),
           Row<Elementwise::silu, Silu>(), Row<Elementwise::relu_squared, ReluSquared>(),
           Row<Elementwise::sigmoid, Sigmoid>());
}

bool loop_exists(const Activation& activation) {
  bool exists = false;
  with_activation(activation, [&](auto) { exists = true; });
  return exists;
}

bool changes(const Epilogue& epilogue) {
  return epilogue.bias != nullptr || epilogue.multiplier != 1;
}

template <class Place, class T>
HWY_INLINE Vector finished(const Epilogue& epilogue, Place at, const T* z, const float* bias) {
  const Vector added = bias == nullptr ? hn::Zero(Floats()) : at.load(bias);
  return hn::MulAdd(at.load(z), constant(epilogue.multiplier), added);
}

template <class F, class T>
void finish_row(F f, const Epilogue& epilogue, T* z, T* y) {
  const bool keeps = z != y && changes(epilogue);
  for_places(epilogue.columns, [&](auto at) HWY_ATTR {
    const Vector whole = finished(epilogue, at, z, epilogue.bias);
    if (keeps) at.store(whole, z);
    at.store(f.value(whole), y);
  });
}

template <class F, class T>
void finish_row(Gated<F>, const Epilogue& epilogue, T* z, T* y) {
  T* up = z + epilogue.columns;
  const float* up_bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + epilogue.columns;
  const bool keeps = changes(epilogue);
  for_places(epilogue.columns, [&](auto at) HWY_ATTR {
    const Vector g = finished(epilogue, at, z, epilogue.bias);
    const Vector u = finished(epilogue, at, up, up_bias);
    if (keeps) at.store(g, z);
    if (keeps) at.store(u, up);
    at.store(hn::Mul(F::value(g), u), y);
  });
}

template <class T>
void finish_rows(const Epilogue& epilogue, T* z, T* y, int64_t begin, int64_t end) {
  const int64_t z_columns = epilogue.columns * epilogue.activation.arguments();
  with_activation(epilogue.activation, [&](auto f) HWY_ATTR {
    for (int64_t row = begin; row < end; ++row) {
      finish_row(f, epilogue, z + row * z_columns, y + row * epilogue.columns);
    }
  });
}

void finish_wide(const Epilogue& epilogue, float* z, float* y, int64_t begin, int64_t end) {
  finish_rows(epilogue, z, y, begin, end);
}

void finish_narrow(const Epilogue& epilogue, uint16_t* z, uint16_t* y, int64_t begin, int64_t end) {
  finish_rows(epilogue, z, y, begin, end);
}

template <class Place, class Out>
HWY_INLINE void put(Place at, Vector v, Out* out, float* sums) {
  at.store(v, out);
  if (sums != nullptr) at.store(hn::Add(at.load(sums), v), sums);
}

/// One row, its own pointers already those of the row.
template <class F, class T, class Out>
void gradient_row(F f, const GradientRows<T, Out>& row) {
  for_places(row.columns, [&](auto at) HWY_ATTR {
    const Vector slope = f.slope(at.load(row.saved));
    put(at, hn::Mul(at.load(row.gradient), slope), row.out, row.sums);
  });
}

template <class F, class T, class Out>
void gradient_row(Gated<F>, const GradientRows<T, Out>& row) {
  const T* up = row.saved + row.columns;
  Out* up_out = row.out + row.columns;
  float* up_sums = row.sums == nullptr ? nullptr : row.sums + row.columns;
  for_places(row.columns, [&](auto at) HWY_ATTR {
    const Vector gradient = at.load(row.gradient), g = at.load(row.saved);
    put(at, hn::Mul(hn::Mul(gradient, at.load(up)), F::slope(g)), row.out, row.sums);
    put(at, hn::Mul(gradient, F::value(g)), up_out, up_sums);
  });
}

template <class T, class Out>
void gradient_rows(const GradientRows<T, Out>& call, int64_t begin, int64_t end, float* sums) {
  const int64_t z_columns = call.columns * call.activation.arguments();
  const int64_t saved_columns = derivative_from_output(call.activation) ? call.columns : z_columns;
  with_activation(call.activation, [&](auto f) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i) {
      GradientRows<T, Out> row = call;
      row.gradient += i * call.columns;
      row.saved = call.saved == nullptr ? row.gradient : call.saved + i * saved_columns;
      row.out += i * z_columns;
      row.sums = sums;
      gradient_row(f, row);
    }
  });
}

void wide_to_wide(const GradientRows<float, float>& call, int64_t begin, int64_t end, float* sums) {
  gradient_rows(call, begin, end, sums);
}

void wide_to_narrow(const GradientRows<float, uint16_t>& call, int64_t begin, int64_t end,
                    float* sums) {
  gradient_rows(call, begin, end, sums);
}

void narrow_to_narrow(const GradientRows<uint16_t, uint16_t>& call, int64_t begin, int64_t end,
                      float* sums) {
  gradient_rows(call, begin, end, sums);
}

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(loop_exists);
HWY_EXPORT(finish_wide);
HWY_EXPORT(finish_narrow);
HWY_EXPORT(wide_to_wide);
HWY_EXPORT(wide_to_narrow);
HWY_EXPORT(narrow_to_narrow);

/// Elements that are worth a thread.
constexpr int64_t grain = 16384;

/// body(begin, end) over rows, in portions worth a thread.
template <class Body>
void for_rows(const Epilogue& epilogue, const Body& body) {
  const int64_t rows = grain / std::max<int64_t>(1, epilogue.columns) + 1;
  at::parallel_for(0, epilogue.rows, rows, body);
}

/// body(begin, end, sums) over blocks of rows, whose sums are added in their order.
template <class T, class Out, class Body>
void for_summed_rows(const GradientRows<T, Out>& call, const Body& body) {
  const RowBlocks blocks(call.rows, 16, 32);
  const int64_t sums = call.sums == nullptr ? 0 : call.columns * call.activation.arguments();
  std::vector<float> parts(blocks.count() * sums, 0.0F);
  for_each_task(blocks.count(), [&](int64_t block) {
    body(blocks.begin(block), blocks.end(block), sums > 0 ? parts.data() + block * sums : nullptr);
  });
  for (size_t i = 0; i < parts.size(); ++i) call.sums[i % sums] += parts[i];
}

}  // namespace

bool has_loop(const Activation& activation) {
  return activation.is_bare() && HWY_DYNAMIC_DISPATCH(loop_exists)(activation);
}

bool derivative_from_output(const Activation& activation) {
  return activation.function == Elementwise::relu && !activation.gated;
}

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

void activation_gradient(const GradientRows<float, float>& call) {
  for_summed_rows(call, [&](int64_t begin, int64_t end, float* sums) {
    HWY_DYNAMIC_DISPATCH(wide_to_wide)(call, begin, end, sums);
  });
}

void activation_gradient(const GradientRows<float, uint16_t>& call) {
  for_summed_rows(call, [&](int64_t begin, int64_t end, float* sums) {
    HWY_DYNAMIC_DISPATCH(wide_to_narrow)(call, begin, end, sums);
  });
}

void activation_gradient(const GradientRows<uint16_t, uint16_t>& call) {
  for_summed_rows(call, [&](int64_t begin, int64_t end, float* sums) {
    HWY_DYNAMIC_DISPATCH(narrow_to_narrow)(call, begin, end, sums);
  });
}

}  // namespace ballast
#endif
