// Text of one output, token by token: ours beside stock libtorch in turn, and beside the rate at
// which memory gives the weights, which have to be read once a token.
//
// The weights are random: what is compared is speed. Both sides start from the same values, and
// the share of equal greedy tokens is printed.

#include "ballast/decode/generate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>

#include "ballast/base/sampling.h"
#include "ballast/kernels/bf16.h"
#include "ballast/model/inventory.h"
#include "ballast/values/plan.h"
#include "ballast/verbs/machine.h"
#include "bench/process.h"
#include "bench/setting.h"
#include "bench/statistics.h"
#include "bench/stock_generator.h"

namespace {

using namespace ballast;
using namespace ballast::bench;
using Tokens = std::vector<int64_t>;

struct Flags {
  int64_t tokens = 48, prompt = 64, repeats = 7;
  std::vector<int64_t> vocabularies{32000, 256};
  int threads = 0;
  bool json = false, all_blas_threads = false;
  std::string side;
  bool bf16 = false;

  int64_t longest() const { return prompt + tokens + 1; }
};

void add_flags(CLI::App& app, Flags& flags) {
  const auto positive = [&](const char* name, int64_t& value, const char* help) {
    app.add_option(name, value, help)->check(CLI::PositiveNumber)->capture_default_str();
  };
  positive("--tokens", flags.tokens, "Tokens that each side generates in turn");
  positive("--prompt", flags.prompt, "Tokens of the prompt, which are not timed");
  positive("--repeats", flags.repeats, "Times that each side does so");
  app.add_option("--vocabulary", flags.vocabularies, "Pieces, one model for each number")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", flags.json, "Print one JSON array");
  app.add_option("--side", flags.side, "For the program's own use");
  app.add_flag("--bf16", flags.bf16, "For the program's own use");
  app.add_flag("--all-blas-threads", flags.all_blas_threads, "For the program's own use");
}

ModelOptions options() {
  return {.kind = ModelKind::causal_lm,
          .d_model = 768,
          .d_ff = 2048,
          .heads = 12,
          .decoder_layers = 12,
          .activation = SwiGlu{},
          .dropout = 0,
          .share_embeddings = EmbeddingSharing::none,
          .positions = RotaryPositions{},
          .norm = RmsNorm{},
          .residual = PreNorm{}};
}

std::shared_ptr<Transformer> model_of(int64_t vocabulary) {
  auto model = std::make_shared<Transformer>(options(), VocabularySizes{vocabulary, vocabulary});
  const Plan planned = plan(*model, {.init = Fairseq{}});
  parameterize(planned);
  initialize(planned, 1);
  return model;
}

/// Elements that a step reads: all matrices, but for the rows of the embedding.
int64_t elements_of(Transformer& model) {
  int64_t elements = 0;
  for (const InventoryEntry& entry : inventory(model).parameters) {
    if (!is_embedding(entry.facts.role)) elements += entry.tensor.numel();
  }
  return elements;
}

Tokens prompt_of(const Flags& flags) {
  Tokens prompt;
  for (int64_t i = 0; i < flags.prompt; ++i) {
    prompt.push_back(i * i * 31 % flags.vocabularies.front());
  }
  return prompt;
}

constexpr int64_t top_k = 50;

/// Seconds of a token behind the first, and the tokens.
nlohmann::json our_text(Transformer& model, const Flags& flags, bool greedy) {
  const TextVocabulary vocabulary{.size = flags.vocabularies.front()};
  std::unique_ptr<Stopwatch> watch;
  const GenerateOptions asked{.max_new_tokens = flags.tokens,
                              .temperature = greedy ? 0.0 : 1.0,
                              .top_k = top_k,
                              .batch = 1,
                              .precision = flags.bf16 ? Precision::bf16 : Precision::float32};
  const auto made =
      generate(model, {prompt_of(flags)}, asked, vocabulary, [&](const OutputPlace&, int64_t) {
        if (!watch) watch = std::make_unique<Stopwatch>();
        return true;
      });
  return {watch->seconds() / static_cast<double>(flags.tokens - 1), made.front().tokens};
}

int64_t chosen(const torch::Tensor& logits, bool greedy) {
  if (greedy) return logits.argmax().item<int64_t>();
  const auto [values, ids] = logits.topk(std::min(top_k, logits.size(0)));
  return ids.index_select(0, torch::multinomial(torch::softmax(values, 0), 1)).item<int64_t>();
}

nlohmann::json stock_text(StockGenerator& stock, const Flags& flags, bool greedy) {
  const c10::InferenceMode inference;
  Tokens tokens{chosen(stock.read(prompt_of(flags)), greedy)};
  const Stopwatch watch;
  while (static_cast<int64_t>(tokens.size()) < flags.tokens) {
    tokens.push_back(chosen(stock.step(tokens.back()), greedy));
  }
  return {watch.seconds() / static_cast<double>(flags.tokens - 1), tokens};
}

void serve_side(const Flags& flags) {
  auto model = model_of(flags.vocabularies.front());
  if (flags.side == "ours") {
    return serve([&](const nlohmann::json& greedy) { return our_text(*model, flags, greedy); });
  }
  StockGenerator stock(*model, flags.longest(), flags.bf16 ? torch::kBFloat16 : torch::kFloat32);
  model.reset();
  serve([&](const nlohmann::json& greedy) { return stock_text(stock, flags, greedy); });
}

std::unique_ptr<Peer> peer_of(const std::string& side, bool bf16, int64_t vocabulary,
                              const Flags& flags, const Setting& setting) {
  std::vector<std::string> arguments{"--side", side};
  const auto add = [&](const char* flag, int64_t value) {
    arguments.emplace_back(flag);
    arguments.push_back(fmt::format("{}", value));
  };
  add("--tokens", flags.tokens);
  add("--prompt", flags.prompt);
  add("--vocabulary", vocabulary);
  add("--threads", flags.threads);
  if (bf16) arguments.emplace_back("--bf16");
  return side_process(arguments, setting);
}

/// Bytes a second that all threads together read, and copy (those read and those written), of as
/// much memory as a model has.
class Memory {
 public:
  explicit Memory(int64_t bytes)
      : words_(bytes / 16),
        from_(torch::ones({2 * words_}, torch::kInt64)),
        to_(torch::ones({words_}, torch::kInt64)) {}

  double read() {
    const Stopwatch watch;
    const int64_t* from = from_.data_ptr<int64_t>();
    at::parallel_for(0, 2 * words_, 1, [&](int64_t begin, int64_t end) {
      int64_t sums[8] = {};
      for (; begin + 8 <= end; begin += 8) {
        for (int64_t i = 0; i < 8; ++i) sums[i] += from[begin + i];
      }
      for (const int64_t sum : sums) seen_ += sum;
    });
    return 16.0 * static_cast<double>(words_) / watch.seconds();
  }

  double copy() {
    const Stopwatch watch;
    at::parallel_for(0, words_, 1, [&](int64_t begin, int64_t end) {
      std::memcpy(to_.data_ptr<int64_t>() + begin, from_.data_ptr<int64_t>() + begin,
                  static_cast<std::size_t>(end - begin) * sizeof(int64_t));
    });
    return 16.0 * static_cast<double>(words_) / watch.seconds();
  }

 private:
  int64_t words_;
  torch::Tensor from_, to_;
  std::atomic<int64_t> seen_ = 0;
};

/// One type of weights: both sides, and how many bytes each token has to read.
struct Compared {
  bool bf16 = false;
  double bytes = 0;
  std::unique_ptr<Peer> ours, stock;
  std::vector<double> our_seconds = {}, stock_seconds = {};
  double same = 0;
};

double seconds_of(Peer& peer, bool greedy = false) { return peer.ask(greedy)[0]; }

double same_tokens(Peer& ours, Peer& stock) {
  const Tokens a = ours.ask(true)[1], b = stock.ask(true)[1];
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  return static_cast<double>(same) / static_cast<double>(a.size());
}

nlohmann::ordered_json measured(int64_t vocabulary, const Flags& flags) {
  const auto model = model_of(vocabulary);
  const auto elements = static_cast<double>(elements_of(*model));
  const Setting best = best_stock_setting([&](const Setting& setting) {
    const auto peer = peer_of("stock", false, vocabulary, flags, setting);
    seconds_of(*peer);
    return seconds_of(*peer);
  });
  std::vector<Compared> all;
  for (const bool bf16 : {false, true}) {
    if (bf16 && !bf16_is_fast()) continue;
    all.push_back({bf16, elements * (bf16 ? 2 : 4),
                   peer_of("ours", bf16, vocabulary, flags, our_setting()),
                   peer_of("stock", bf16, vocabulary, flags, best)});
    all.back().same = same_tokens(*all.back().ours, *all.back().stock);
  }
  Memory memory(static_cast<int64_t>(elements * 4));
  std::vector<double> read, copy;
  for (int64_t i = 0; i < flags.repeats; ++i) {
    read.push_back(memory.read());
    copy.push_back(memory.copy());
    for (Compared& each : all) {
      each.our_seconds.push_back(seconds_of(*each.ours));
      each.stock_seconds.push_back(seconds_of(*each.stock));
    }
  }
  nlohmann::ordered_json found{{"processor", processor_name()},
                               {"threads", at::get_num_threads()},
                               {"vocabulary", vocabulary},
                               {"weights", elements},
                               {"read_gb_per_second", 1e-9 * median(read)},
                               {"copy_gb_per_second", 1e-9 * median(copy)},
                               {"stock_setting", best.name}};
  for (const Compared& each : all) {
    const std::string type = each.bf16 ? "_bf16" : "_float32";
    const double ours = median(each.our_seconds), stock = median(each.stock_seconds);
    found["ours_tokens_per_second" + type] = 1 / ours;
    found["stock_tokens_per_second" + type] = 1 / stock;
    found["ratio" + type] = stock / ours;
    found["share_of_read_limit" + type] = each.bytes / median(read) / ours;
    found["share_of_copy_limit" + type] = each.bytes / median(copy) / ours;
    found["same_tokens" + type] = each.same;
  }
  return found;
}

void run(const Flags& flags) {
  set_up_machine({.threads = flags.threads, .device = "cpu"});
  if (flags.all_blas_threads) set_blas_threads(at::get_num_threads());
  if (!flags.side.empty()) return serve_side(flags);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const int64_t vocabulary : flags.vocabularies) all.push_back(measured(vocabulary, flags));
  if (flags.json) return fmt::print("{}\n", all.dump(2));
  for (const auto& model : all) {
    for (const auto& [key, value] : model.items()) fmt::print("{:<28}{}\n", key, value.dump());
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tokens of one output, ours beside stock libtorch and the rate of memory"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  return guarded("generate", [&] { run(flags); });
}
