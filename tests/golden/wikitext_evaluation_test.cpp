#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "ballast/data/text.h"
#include "ballast/layers/attention.h"
#include "ballast/layers/feed_forward.h"
#include "ballast/testing/temporary_directory.h"
#include "ballast/train/text_evaluation.h"
#include "ballast/values/plan.h"

// The evaluation of language models on WikiText-2 beside one that is computed here from the same
// weights, by stock libtorch operations in double precision and with the loop over windows that
// Hugging Face's documentation gives. Sizes are those of wc and of Python's str.split.
namespace ballast {
namespace {

const std::string folder = std::string(BALLAST_SHARED_DATA) + "/wikitext-2/";

std::vector<std::string> lines_of(const std::string& file, size_t count) {
  std::vector<std::string> lines = read_lines(folder + file);
  lines.resize(std::min(lines.size(), count));
  return lines;
}

ModelOptions gpt2_like() {
  ModelOptions options{.kind = ModelKind::causal_lm, .d_model = 32, .d_ff = 96, .heads = 4};
  options.decoder_layers = 2;
  options.activation = Gelu{};
  options.positions = LearnedPositions{.max_length = 200};
  options.residual = PreNorm{};
  return options;
}

ModelOptions llama_like() {
  ModelOptions options = gpt2_like();
  options.key_value_heads = 2;
  options.activation = SwiGlu{};
  options.positions = RotaryPositions{};
  options.norm = RmsNorm{};
  options.share_embeddings = EmbeddingSharing::none;
  return options;
}

/// Values that give each token a probability of its own.
std::shared_ptr<Transformer> drawn(const ModelOptions& options, int64_t vocabulary) {
  auto model = std::make_shared<Transformer>(options, VocabularySizes{vocabulary, vocabulary});
  const Plan planned = plan(*model, Rules{});
  parameterize(planned);
  initialize(planned, 1);
  torch::manual_seed(7);
  const torch::NoGradGuard no_grad;
  for (auto& each : model->parameters()) each.mul_(1.5).add_(torch::randn_like(each) * 0.1);
  return model;
}

torch::Tensor wide(const torch::Tensor& x) { return x.defined() ? x.to(torch::kFloat64) : x; }

/// The forward pass of either model.
class Reference {
 public:
  explicit Reference(const Transformer& model) : model_(model), options_(model.options()) {}

  /// log p [T, V] after each id [T].
  torch::Tensor log_probabilities(const torch::Tensor& ids) const {
    torch::Tensor x = at::embedding(wide(model_.target_embedding->weight), ids) *
                      std::sqrt(static_cast<double>(options_.d_model));
    if (model_.target_positions->table.defined()) {
      x = x + wide(model_.target_positions->table).slice(0, 0, ids.size(0));
    }
    for (const auto& block : model_.decoder->blocks) {
      x = x +
          attended(*block,
                   normed(*block->at(Sublayer::self_attention).residual->norm_at(Point::read), x));
      x = x +
          fed(*block, normed(*block->at(Sublayer::feed_forward).residual->norm_at(Point::read), x));
    }
    x = normed(*model_.decoder->norm_at(Point::stack), x);
    return at::log_softmax(at::linear(x, wide(model_.output->weight())), -1);
  }

 private:
  torch::Tensor normed(const Norm& norm, const torch::Tensor& x) const {
    if (norm.bias.defined()) {
      return at::layer_norm(x, {options_.d_model}, wide(norm.gain), wide(norm.bias), 1e-5);
    }
    return x * at::rsqrt(x.square().mean(-1, true) + rms_epsilon_) * wide(norm.gain);
  }

  static torch::Tensor through(const Linear& linear, const torch::Tensor& x) {
    return at::linear(x, wide(linear.weight), wide(linear.bias));
  }

  /// [T, heads K] as [heads, T, K].
  torch::Tensor heads_of(const torch::Tensor& x) const {
    const int64_t width = options_.d_model / options_.heads;
    return x.view({x.size(0), -1, width}).transpose(0, 1);
  }

  torch::Tensor turned(const torch::Tensor& x) const {
    if (model_.target_positions->table.defined()) return x;
    const int64_t half = x.size(2) / 2;
    const auto steps = torch::arange(half, torch::kFloat64) / static_cast<double>(half);
    const auto angles =
        torch::outer(torch::arange(x.size(1), torch::kFloat64), torch::pow(10000.0, -steps));
    const auto low = x.slice(2, 0, half), high = x.slice(2, half);
    return at::cat(
        {low * angles.cos() - high * angles.sin(), high * angles.cos() + low * angles.sin()}, 2);
  }

  torch::Tensor attended(const Block& block, const torch::Tensor& x) const {
    const auto& attention = block.branch<Attention>(Sublayer::self_attention);
    const torch::Tensor query = turned(heads_of(through(*attention.query, x)));
    const torch::Tensor key = turned(heads_of(through(*attention.key, x)));
    const torch::Tensor value = heads_of(through(*attention.value, x));
    const int64_t readers = query.size(0) / key.size(0);
    const torch::Tensor later = at::ones({x.size(0), x.size(0)}, torch::kBool).triu(1);
    const torch::Tensor scores =
        at::matmul(query, key.repeat_interleave(readers, 0).transpose(1, 2)) /
        std::sqrt(static_cast<double>(query.size(2)));
    const torch::Tensor shares =
        at::softmax(scores.masked_fill(later, -std::numeric_limits<double>::infinity()), -1);
    const torch::Tensor mixed = at::matmul(shares, value.repeat_interleave(readers, 0));
    return through(*attention.output, mixed.transpose(0, 1).reshape({x.size(0), options_.d_model}));
  }

  torch::Tensor fed(const Block& block, const torch::Tensor& x) const {
    const auto& layer = block.branch<FeedForward>(Sublayer::feed_forward);
    const torch::Tensor h = through(*layer.in, x);
    if (h.size(1) == options_.d_ff) return through(*layer.out, at::gelu(h));
    const auto parts = h.chunk(2, 1);
    return through(*layer.out, at::silu(parts[0]) * parts[1]);
  }

  const Transformer& model_;
  const ModelOptions& options_;
  double rms_epsilon_ = RmsNorm{}.eps;
};

struct Total {
  double nll = 0;
  int64_t tokens = 0;
};

/// `max_length` and `stride` as in "Perplexity of fixed-length models".
Total reference_total(const Transformer& model, const std::vector<int64_t>& ids, int64_t max_length,
                      int64_t stride) {
  const torch::NoGradGuard no_grad;
  const Reference reference(model);
  const torch::Tensor all = torch::tensor(ids, torch::kInt64);
  const int64_t length = all.size(0);
  Total total;
  int64_t previous_end = 0;
  for (int64_t begin = 0; begin < length; begin += stride) {
    const int64_t end = std::min(begin + max_length, length);
    torch::Tensor labels = all.slice(0, begin, end).clone();
    labels.slice(0, 0, labels.size(0) - (end - previous_end)).fill_(-100);
    const torch::Tensor log_p = reference.log_probabilities(all.slice(0, begin, end));
    const torch::Tensor shifted = labels.slice(0, 1);
    total.nll +=
        at::nll_loss(log_p.slice(0, 0, -1), shifted, {}, at::Reduction::Sum, -100).item<double>();
    total.tokens += shifted.ge(0).sum().item<int64_t>();
    previous_end = end;
    if (end == length) break;
  }
  return total;
}

/// The stream that a training on lines reads, put together here.
std::vector<int64_t> stream_of(const std::vector<std::string>& lines, const Tokenizer& tokenizer) {
  std::vector<int64_t> ids{tokenizer.begin_id()};
  for (const std::string& line : lines) {
    const auto of_line = tokenizer.encode(line);
    ids.insert(ids.end(), of_line.begin(), of_line.end());
    ids.push_back(tokenizer.end_id());
  }
  return ids;
}

Tokenizer learned() {
  return Tokenizer::train(lines_of("wiki.valid.raw.gz", 300), Bpe{.vocabulary_size = 700});
}

void expect_equal(const ModelOptions& options, const std::vector<std::string>& lines,
                  const Sliding& sliding, const TextSize& size) {
  const Tokenizer tokenizer = learned();
  const auto model = drawn(options, tokenizer.size());
  const TemporaryDirectory directory;
  std::ofstream text(directory / "text");
  for (const std::string& line : lines) text << line << '\n';
  text.close();
  const TextEvaluation found =
      evaluate_text(*model, read_text({directory / "text"}, tokenizer, {}), sliding, {});
  const Total expected =
      reference_total(*model, stream_of(lines, tokenizer), sliding.context + 1, sliding.stride);
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_NEAR(found.nll, expected.nll, 1e-5 * expected.nll);
  EXPECT_EQ(found.size, size);
  const auto by = [&](double count) { return std::exp(expected.nll / count); };
  const auto words = static_cast<double>(size.words), bytes = static_cast<double>(size.bytes);
  EXPECT_NEAR(found.perplexity(size.words), by(words), 1e-5 * by(words));
  EXPECT_NEAR(found.perplexity(size.bytes), by(bytes), 1e-5 * by(bytes));
  EXPECT_NEAR(bits_per_byte(found.nll, size.bytes), std::log2(by(bytes)), 1e-5);
  std::printf("%lld tokens, %.9g nats beside %.9g, %.9g bits a byte\n",
              static_cast<long long>(found.tokens), found.nll, expected.nll,
              bits_per_byte(found.nll, size.bytes));
}

constexpr TextSize first_lines{.words = 1490, .line_ends = 40, .bytes = 7786};
constexpr TextSize whole_file{.words = 241211, .line_ends = 4358, .bytes = 1290590};

TEST(WikiText, IsMeasuredAsWcAndPythonCount) {
  EXPECT_EQ(size_of_files({folder + "wiki.test.raw.gz"}, {}), whole_file);
  EXPECT_EQ(size_of_files({folder + "wiki.valid.tokens.gz"}, {}),
            (TextSize{213886, 3760, 1121681}));
  EXPECT_EQ(whole_file.words_and_line_ends(), 245569);  // as the data set is published
}

TEST(WikiText, GptIsEvaluatedAsByStockOperations) {
  const auto lines = lines_of("wiki.test.raw.gz", 40);
  for (const auto& [context, stride] : {std::pair(64, 64), std::pair(150, 40), std::pair(8, 1)}) {
    expect_equal(gpt2_like(), lines, {context, stride}, first_lines);
  }
}

TEST(WikiText, LlamaIsEvaluatedAsByStockOperations) {
  const auto lines = lines_of("wiki.test.raw.gz", 40);
  for (const auto& [context, stride] : {std::pair(64, 64), std::pair(150, 40)}) {
    expect_equal(llama_like(), lines, {context, stride}, first_lines);
  }
}

// Minutes; by hand, with --gtest_also_run_disabled_tests.
TEST(WikiText, DISABLED_TheWholeTestPart) {
  const auto lines = lines_of("wiki.test.raw.gz", 5000);
  expect_equal(gpt2_like(), lines, {128, 64}, whole_file);
  expect_equal(llama_like(), lines, {128, 64}, whole_file);
}

}  // namespace
}  // namespace ballast
