#include "bench/limit.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include "ballast/model/inventory.h"
#include "bench/statistics.h"

namespace ballast::bench {
namespace {

using dnnl::memory;

void add(std::vector<Product>& products, const Product& product) {
  for (Product& known : products) {
    Product same = known;
    same.times = product.times;
    if (same != product) continue;
    known.times += product.times;
    return;
  }
  products.push_back(product);
}

/// Forward, input gradient and weight gradient of y [rows, out] = x W^T.
void add_linear(std::vector<Product>& products, int64_t rows, int64_t in, int64_t out) {
  add(products, {.m = rows, .k = in, .n = out, .right_transposed = true});
  add(products, {.m = rows, .k = out, .n = in});
  add(products, {.m = out, .k = rows, .n = in, .left_transposed = true});
}

/// Whether a matrix of this role at this place sees the rows of the source.
bool reads_source(const ParameterFacts& facts) {
  return facts.site && (facts.site->stack == Stack::encoder ||
                        (facts.site->kind == Sublayer::cross_attention &&
                         (facts.role == Role::key || facts.role == Role::value)));
}

int64_t rows_of(const ParameterFacts& facts, const Batch& batch) {
  return (reads_source(facts) ? batch.source : batch.target_input).segments.tokens();
}

/// The numbers of queries and keys of one sequence; how many sequences have them.
using Shapes = std::map<std::pair<int64_t, int64_t>, int64_t>;

Shapes shapes_of(const Segments& queries, const Segments& keys) {
  Shapes shapes;
  for (int64_t i = 0; i < queries.count(); ++i) ++shapes[{queries.length(i), keys.length(i)}];
  return shapes;
}

Shapes causal_shapes_of(const Segments& segments) {
  constexpr int64_t block = 128;
  Shapes shapes;
  for (const int64_t length : segments.lengths()) {
    for (int64_t begin = 0; begin < length; begin += block) {
      const int64_t end = std::min(begin + block, length);
      ++shapes[{end - begin, end}];
    }
  }
  return shapes;
}

/// q k^T and its like (the gradient of the probabilities), p v (of q), p^T g (of k and v).
void add_attention(std::vector<Product>& products, const ModelOptions& options,
                   const Shapes& shapes, int64_t layers) {
  const int64_t d_head = options.d_model / options.heads;
  for (const auto& [lengths, count] : shapes) {
    const auto& [queries, keys] = lengths;
    const int64_t batch = count * options.heads, times = 2 * layers;
    products.push_back({batch, queries, d_head, keys, false, true, times});
    products.push_back({batch, queries, keys, d_head, false, false, times});
    products.push_back({batch, keys, queries, d_head, true, false, times});
  }
}

std::vector<Product> linear_products(Transformer& model, const Batch& batch) {
  std::vector<Product> products;
  for (const InventoryEntry& entry : inventory(model).parameters) {
    const ParameterFacts& facts = entry.facts;
    if (is_vector(facts.role) || is_embedding(facts.role)) continue;
    add_linear(products, rows_of(facts, batch), facts.fan_in, facts.stacked * facts.fan_out);
  }
  if (model.output->is_tied()) {
    const torch::Tensor& table = model.target_embedding->weight;
    add_linear(products, batch.tokens, table.size(1), table.size(0));
  }
  return products;
}

std::vector<Product> attention_products(const ModelOptions& options, const Batch& batch) {
  std::vector<Product> products;
  const Segments& source = batch.source.segments;
  const Segments& target = batch.target_input.segments;
  add_attention(products, options, causal_shapes_of(target), options.decoder_layers);
  if (options.shape().has_source) {
    add_attention(products, options, shapes_of(source, source), options.encoder_layers);
    add_attention(products, options, shapes_of(target, source), options.decoder_layers);
  }
  return products;
}

memory::desc described(const memory::dims& sizes, bool transposed, memory::data_type type) {
  const int64_t rows = sizes[1], columns = sizes[2];
  const memory::dims strides =
      transposed ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1};
  return {sizes, type, strides};
}

struct Ready {
  dnnl::matmul primitive;
  std::unordered_map<int, memory> arguments;
  int64_t times;
};

}  // namespace

double operations_of(const std::vector<Product>& products) {
  double sum = 0;
  for (const Product& each : products) sum += each.operations();
  return sum;
}

Products products_of(Transformer& model, const Batch& batch) {
  return {linear_products(model, batch), attention_products(model.options(), batch)};
}

std::vector<Product> search_products(Transformer& model, const std::vector<Searched>& sentences,
                                     int64_t beam) {
  int64_t source = 0, longest = 0;
  for (const Searched& each : sentences) {
    source += each.source;
    longest = std::max(longest, each.steps);
  }
  std::vector<int64_t> rows(longest, 0);  // of each step
  for (const Searched& each : sentences) {
    for (int64_t step = 0; step < each.steps; ++step) rows[step] += step == 0 ? 1 : beam;
  }
  std::vector<Product> products;
  const auto add_layer = [&](int64_t m, int64_t in, int64_t out) {
    add(products, {.m = m, .k = in, .n = out, .right_transposed = true});
  };
  const auto add_step_layer = [&](int64_t in, int64_t out) {
    for (const int64_t m : rows) add_layer(m, in, out);
  };
  for (const InventoryEntry& entry : inventory(model).parameters) {
    const ParameterFacts& facts = entry.facts;
    if (is_vector(facts.role) || is_embedding(facts.role)) continue;
    reads_source(facts) ? add_layer(source, facts.fan_in, facts.fan_out)
                        : add_step_layer(facts.fan_in, facts.fan_out);
  }
  if (model.output->is_tied()) {
    const torch::Tensor& table = model.target_embedding->weight;
    add_step_layer(table.size(1), table.size(0));
  }
  return products;
}

double pass_bytes_of(Transformer& model, const Batch& batch) {
  const ModelOptions& options = model.options();
  const bool translates = options.shape().has_source;
  const int64_t target = batch.target_input.segments.tokens();
  const int64_t source = translates ? batch.source.segments.tokens() : 0;
  const int64_t encoder = translates ? options.encoder_layers : 0;
  const int64_t decoder = options.decoder_layers;
  const int64_t decoder_joins = translates ? 3 : 2;
  constexpr int64_t join_passes = 3 + 4, activation_passes = 2 + 3, sum_passes = 3;
  const int64_t joins = source * encoder * 2 + target * decoder * decoder_joins;
  const int64_t hidden = source * encoder + target * decoder;
  // The rows before a connection are read by its shortcut and its branch, the memory by all blocks.
  const int64_t sums = joins + (translates ? source * (decoder - 1) : 0);
  int64_t parameters = 0;
  for (const InventoryEntry& entry : inventory(model).parameters)
    parameters += entry.tensor.numel();
  const int64_t classes = model.target_embedding->weight.size(0);
  constexpr int64_t logit_passes = 3, embedding_passes = 4, update_passes = 1 + 4 + 3;
  const int64_t elements = options.d_model * (joins * join_passes + sums * sum_passes +
                                              (source + target) * embedding_passes) +
                           options.d_ff * hidden * activation_passes +
                           batch.tokens * classes * logit_passes + parameters * update_passes;
  return static_cast<double>(elements) * sizeof(float);
}

double copied_bytes_per_second() {
  const torch::Tensor from = torch::ones({int64_t{1} << 25}), to = torch::empty_like(from);
  std::vector<double> seconds;
  to.copy_(from);
  for (int i = 0; i < 9; ++i) {
    const Stopwatch watch;
    to.copy_(from);
    seconds.push_back(watch.seconds());
  }
  return 2 * static_cast<double>(from.nbytes()) / median(seconds);
}

void ProductTimer::grow(const std::vector<Product>& products) {
  const auto filling = std::bit_cast<float>(0x3c233c23U);  // about 0.01, in bfloat16 too
  const auto reserve = [&](std::vector<float>& buffer, int64_t count) {
    if (static_cast<int64_t>(buffer.size()) < count) buffer.resize(count, filling);
  };
  for (const Product& each : products) {
    reserve(left_, each.batch * each.m * each.k);
    reserve(right_, each.batch * each.k * each.n);
    reserve(out_, each.batch * each.m * each.n);
  }
}

double ProductTimer::seconds(const std::vector<Product>& products) {
  grow(products);
  std::vector<Ready> ready;
  for (const Product& each : products) {
    const memory::desc left = described({each.batch, each.m, each.k}, each.left_transposed, type_);
    const memory::desc right =
        described({each.batch, each.k, each.n}, each.right_transposed, type_);
    const memory::desc out = described({each.batch, each.m, each.n}, false, memory::data_type::f32);
    const dnnl::matmul::primitive_desc how(dnnl::matmul::desc(left, right, out), engine_);
    ready.push_back({dnnl::matmul(how),
                     {{DNNL_ARG_SRC, memory(left, engine_, left_.data())},
                      {DNNL_ARG_WEIGHTS, memory(right, engine_, right_.data())},
                      {DNNL_ARG_DST, memory(out, engine_, out_.data())}},
                     each.times});
  }
  const Stopwatch watch;
  for (Ready& each : ready) {
    for (int64_t i = 0; i < each.times; ++i) each.primitive.execute(stream_, each.arguments);
  }
  stream_.wait();
  return watch.seconds();
}

}  // namespace ballast::bench
