// The whole training step of one model on real batches, ours beside stock libtorch in alternation,
// and beside the time that the step's matrix products alone take in oneDNN.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "ballast/cli/machine.h"
#include "bench/corpus.h"
#include "bench/limit.h"
#include "bench/models.h"
#include "bench/process.h"
#include "bench/sides.h"
#include "bench/statistics.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

constexpr int64_t warm_up = 2, memory_steps = 3;

struct Flags {
  std::string model = model_names().front();
  std::filesystem::path corpus = "data/libreoffice-help-en-de";
  int64_t steps = 10;
  int threads = 0;
  std::string precision = "all";
  bool json = false;
  // Of the runs that measure memory, started by this program itself.
  std::string side;
  std::filesystem::path encoded;
  int64_t vocabulary_size = 0;
};

/// What was measured of one model; times in seconds of one step, peaks in bytes.
struct Measured {
  std::vector<double> ours, stock, linear, attention, tokens;
  std::vector<double> forward, backward, update;
  double operations = 0;  ///< of the products of all steps together
  Gradient our_gradient, stock_gradient;
  int64_t our_peak = 0, stock_peak = 0;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--model", flags.model, "Which model")
      ->check(CLI::IsMember(model_names()))
      ->capture_default_str();
  app.add_option("--steps", flags.steps, "Alternated steps after the warm-up")
      ->check(CLI::Range(10, 100000))
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--precision", flags.precision, "float32, bf16, or all that the processor has")
      ->check(CLI::IsMember({"float32", "bf16", "all"}))
      ->capture_default_str();
  app.add_option("--corpus", flags.corpus, "Folder with train.en and train.de")
      ->capture_default_str();
  app.add_flag("--json", flags.json, "Print one JSON object");
  app.add_option("--side", flags.side)->group("");
  app.add_option("--encoded", flags.encoded)->group("");
  app.add_option("--vocabulary", flags.vocabulary_size)->group("");
}

/// In a process of its own: steps of one side, and its peak memory.
void measure_memory(const Flags& flags) {
  const Recipe recipe = recipe_of(flags.model, flags.corpus);
  const Encoded data = read_encoded(flags.vocabulary_size, flags.encoded);
  const std::vector<Batch> batches = first_batches(recipe, data, memory_steps);
  auto ours = std::make_optional<OurSide>(recipe, data.vocabulary_size);
  if (flags.side == "ours") {
    for (const Batch& batch : batches) ours->step(batch);
  } else {
    StockSide stock(recipe, ours->model(), at::get_num_threads());
    ours.reset();
    for (const Batch& batch : batches) stock.step(batch);
  }
  fmt::print("{}\n", peak_resident());
}

int64_t peak_of(const std::string& side, const Flags& flags, const Encoded& data) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("ballast-bench-{}.tokens", getpid());
  write_encoded(data, file);
  const std::string printed = output_of_self(
      {"--side", side, "--model", flags.model, "--threads", fmt::format("{}", flags.threads),
       "--encoded", file.string(), "--vocabulary", fmt::format("{}", data.vocabulary_size)});
  std::filesystem::remove(file);
  return std::stoll(printed);
}

void measure_step(Measured& measured, const StepTime& ours, const StepTime& stock) {
  measured.ours.push_back(ours.total());
  measured.stock.push_back(stock.total());
  measured.forward.push_back(ours.forward);
  measured.backward.push_back(ours.backward);
  measured.update.push_back(ours.update);
}

Measured measure(const Flags& flags, const Recipe& recipe, const Encoded& data) {
  Measured measured;
  measured.our_peak = peak_of("ours", flags, data);
  measured.stock_peak = peak_of("stock", flags, data);
  const std::vector<Batch> batches = first_batches(recipe, data, warm_up + flags.steps);
  OurSide ours(recipe, data.vocabulary_size);
  StockSide stock(recipe, ours.model(), at::get_num_threads());
  measured.our_gradient = ours.gradient(batches.front());
  measured.stock_gradient = stock.gradient(batches.front());
  check_agreement(measured.our_gradient, measured.stock_gradient);
  ProductTimer timer;
  for (int64_t i = 0; i < warm_up + flags.steps; ++i) {
    const StepTime our_time = ours.step(batches[i]);
    const StepTime stock_time = stock.step(batches[i]);
    const auto linear = linear_products(ours.model(), batches[i]);
    const auto attention = attention_products(recipe.model, batches[i]);
    const double linear_seconds = timer.seconds(linear),
                 attention_seconds = timer.seconds(attention);
    fmt::print(stderr, "step {:>3}: ours {:.3f} s, stock {:.3f} s, limit {:.3f} s\n",
               i - warm_up + 1, our_time.total(), stock_time.total(),
               linear_seconds + attention_seconds);
    if (i < warm_up) continue;
    measure_step(measured, our_time, stock_time);
    measured.linear.push_back(linear_seconds);
    measured.attention.push_back(attention_seconds);
    measured.tokens.push_back(static_cast<double>(batches[i].tokens));
    for (const Product& each : linear) measured.operations += each.operations();
    for (const Product& each : attention) measured.operations += each.operations();
  }
  return measured;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Medians, and what follows from them.
nlohmann::ordered_json summary(const Flags& flags, const Measured& m) {
  const double ours = median(m.ours), stock = median(m.stock), linear = median(m.linear);
  const double limit = linear + median(m.attention);
  nlohmann::ordered_json json{
      {"model", flags.model},
      {"processor", processor_name()},
      {"threads", at::get_num_threads()},
      {"steps", m.ours.size()},
      {"ours_tokens_per_second", sum(m.tokens) / sum(m.ours)},
      {"stock_tokens_per_second", sum(m.tokens) / sum(m.stock)},
      {"ratio_float32", stock / ours},
      {"limit_share_float32", limit / ours},
      {"limit_share_linear_float32", linear / ours},
      {"memory_ratio", static_cast<double>(m.our_peak) / static_cast<double>(m.stock_peak)},
      {"ours_peak_bytes", m.our_peak},
      {"stock_peak_bytes", m.stock_peak},
      {"ours_seconds", ours},
      {"stock_seconds", stock},
      {"limit_seconds", limit},
      {"limit_linear_seconds", linear},
      {"limit_gflops", 1e-9 * m.operations / (sum(m.linear) + sum(m.attention))},
      {"ours_forward_seconds", median(m.forward)},
      {"ours_backward_seconds", median(m.backward)},
      {"ours_update_seconds", median(m.update)},
      {"ours_loss", m.our_gradient.loss},
      {"stock_loss", m.stock_gradient.loss},
      {"ours_gradient_norm", m.our_gradient.norm},
      {"stock_gradient_norm", m.stock_gradient.norm}};
  return json;
}

void print_table(const nlohmann::ordered_json& s) {
  const auto number = [&](const char* key) { return s.at(key).get<double>(); };
  constexpr double mebibyte = 1 << 20;
  fmt::print("{}, float32, {} threads, {}, medians of {} steps\n\n", s["model"].get<std::string>(),
             s["threads"].get<int>(), s["processor"].get<std::string>(), s["steps"].get<int>());
  fmt::print("start, no dropout: loss {:.6f} ours, {:.6f} stock; gradient norm {:.6f}, {:.6f}\n\n",
             number("ours_loss"), number("stock_loss"), number("ours_gradient_norm"),
             number("stock_gradient_norm"));
  fmt::print("{:<24}{:>10}{:>10}{:>12}\n", "", "s/step", "tokens/s", "peak MiB");
  for (const std::string side : {"ours", "stock"}) {
    fmt::print("{:<24}{:>10.4f}{:>10.0f}{:>12.0f}\n", side, number((side + "_seconds").c_str()),
               number((side + "_tokens_per_second").c_str()),
               number((side + "_peak_bytes").c_str()) / mebibyte);
  }
  fmt::print("{:<24}{:>10.4f}   ({:.0f} GFLOP/s)\n", "limit", number("limit_seconds"),
             number("limit_gflops"));
  fmt::print("{:<24}{:>10.4f}\n\n", "limit, linear layers", number("limit_linear_seconds"));
  fmt::print(
      "ours : stock {:.2f}, share of the limit {:.1f} % ({:.1f} % linear layers), memory {:.2f}\n",
      number("ratio_float32"), 100 * number("limit_share_float32"),
      100 * number("limit_share_linear_float32"), number("memory_ratio"));
  fmt::print("our step: forward {:.4f}, backward {:.4f}, update {:.4f} s\n",
             number("ours_forward_seconds"), number("ours_backward_seconds"),
             number("ours_update_seconds"));
}

int run(const Flags& flags) {
  Machine{.threads = flags.threads, .device = "cpu"}.prepare();
  if (!flags.side.empty()) {
    measure_memory(flags);
    return 0;
  }
  const Recipe recipe = recipe_of(flags.model, flags.corpus);
  const PreparedData prepared = load_data(recipe);
  const Measured measured = measure(flags, recipe, {prepared.train, prepared.tokenizer->size()});
  const nlohmann::ordered_json found = summary(flags, measured);
  if (flags.json) {
    fmt::print("{}\n", found.dump(2));
  } else {
    print_table(found);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The whole training step, ours beside stock libtorch and beside the limit"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  return guarded("train_step", [&] { return run(flags); });
}
