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

/// A sentence to be translated: source tokens, and steps of the search.
struct Searched {
  int64_t source = 0, steps = 0;
};

/// The products of the linear layers of a beam search over all sentences at once: source tokens
/// through the encoder; in each step one row for every hypothesis of the sentences that go on, but
/// a single one of each in the first. No grouping of sentences has fewer or larger products.
std::vector<Product> search_products(Transformer& model, const std::vector<Searched>& sentences,
                                     int64_t beam);

/// Bytes that a training step of a post-norm model reads and writes besides its products, each
/// tensor from memory and back once per pass: joining of branch and shortcut (forward: both and
/// the result; backward: result, its gradient, both gradients), activation (2 and 3 of the hidden
/// tensor), sums of gradients where several layers read one tensor, logits (read, and replaced by
/// their gradient), embeddings, and the optimizer (gradient norm; weight, gradient, moments).
double pass_bytes_of(Transformer& model, const Batch& batch);

/// Bytes a second that all threads together read and write when they copy 128 MiB.
double copied_bytes_per_second();

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
