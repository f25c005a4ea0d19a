#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <vector>

#include "ballast/data/packed_batch.h"
#include "ballast/model/transformer.h"

namespace ballast::bench {

/// `batch` products [m, k] [k, n] of one step, done `times` times; a transposed factor is stored
/// the other way round.
struct Product {
  int64_t batch = 1, m = 0, k = 0, n = 0;
  bool left_transposed = false, right_transposed = false;
  int64_t times = 1;

  bool operator==(const Product&) const = default;
  double operations() const { return 2.0 * static_cast<double>(batch * m * k * n * times); }
};

double operations_of(const std::vector<Product>& products);

/// The products of one step, forward, input gradient and weight gradient.
struct Products {
  std::vector<Product> linear;  ///< of linear layers and the output projection
  /// Sequences of equal lengths are one batched product. Causal attention takes 128 queries at a
  /// time, with the keys up to the last of them.
  std::vector<Product> attention;
};

Products products_of(Transformer& model, const Batch& batch);

/// Matrix products alone in oneDNN, of one type (their results float32), in plain row-major
/// layouts: what a step of these shapes cannot undercut. Buffers and primitives are made before the
/// time is taken, and buffers are shared by all products, so that they are as warm in the cache as
/// can be.
class ProductTimer {
 public:
  explicit ProductTimer(dnnl::memory::data_type type) : type_(type) {}

  double seconds(const std::vector<Product>& products);

 private:
  void grow(const std::vector<Product>& products);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory::data_type type_;
  std::vector<float> left_, right_, out_;
};

}  // namespace ballast::bench
