#include "bench/step_measurement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "ballast/kernels/bf16.h"
#include "bench/models.h"
#include "bench/process.h"

namespace ballast::bench {
namespace {

constexpr int64_t warm_up = 2, peak_steps = 3;

/// Our side in one precision, with the timer of its products.
struct Running {
  Variant variant;
  std::unique_ptr<OurSide> side;
  ProductTimer timer;
  OurTimes times;
};

int64_t peak_of(const std::string& side, const StepRequest& request, const Encoded& data) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("ballast-bench-{}.tokens", getpid());
  write_encoded(data, file);
  const auto text = [](int64_t number) { return fmt::format("{}", number); };
  const std::string printed =
      output_of_self({"--model", request.model, "--batch-tokens", text(request.batch_tokens),
                      "--threads", text(request.threads), "--peak-of", side, "--encoded",
                      file.string(), "--vocabulary", text(data.vocabulary_size)});
  std::filesystem::remove(file);
  return std::stoll(printed);
}

std::vector<Running> started(const StepRequest& request, const Encoded& data) {
  std::vector<Running> running;
  for (const Variant& each : variants_of(request)) {
    Running one{.variant = each,
                .side = std::make_unique<OurSide>(each.recipe, data.vocabulary_size),
                .timer = ProductTimer(each.type),
                .times = {.precision = each.precision}};
    one.times.peak = peak_of(each.precision, request, data);
    running.push_back(std::move(one));
  }
  return running;
}

void take(OurTimes& times, const StepTime& step) {
  times.total.push_back(step.total());
  times.forward.push_back(step.forward);
  times.backward.push_back(step.backward);
  times.update.push_back(step.update);
}

void forget(OurTimes& times) {
  for (auto* each : {&times.total, &times.forward, &times.backward, &times.update, &times.linear,
                     &times.attention}) {
    each->clear();
  }
}

/// A step of each side on the same batch, and its products alone.
void take_step(std::vector<Running>& running, StockSide& stock, const Batch& batch,
               StepMeasurement& measured) {
  for (Running& each : running) take(each.times, each.side->step(batch));
  measured.stock.push_back(stock.step(batch).total());
  measured.tokens.push_back(static_cast<double>(batch.tokens));
  const Transformer& model = running.front().side->model();
  const auto linear = linear_products(model, batch);
  const auto attention = attention_products(model.options(), batch);
  measured.operations += operations_of(linear) + operations_of(attention);
  for (Running& each : running) {
    each.times.linear.push_back(each.timer.seconds(linear));
    each.times.attention.push_back(each.timer.seconds(attention));
    fmt::print(stderr, "{}: ours {:.3f} s, limit {:.3f} s; ", each.variant.precision,
               each.times.total.back(), each.times.linear.back() + each.times.attention.back());
  }
  fmt::print(stderr, "stock {:.3f} s\n", measured.stock.back());
}

}  // namespace

std::vector<Variant> variants_of(const StepRequest& request) {
  using Type = dnnl::memory::data_type;
  Recipe wide = recipe_of(request.model, request.corpus), narrow;
  wide.train.batch_tokens = request.batch_tokens;
  narrow = wide;
  narrow.train.precision = Precision::bf16;
  if (request.precision == "bf16")
    refuse_slow_precision("--precision", Precision::bf16, torch::kCPU);
  std::vector<Variant> variants;
  if (request.precision != "bf16") variants.push_back({"float32", wide, Type::f32, 1e-4});
  if (request.precision != "float32" && bf16_is_fast()) {
    variants.push_back({"bf16", narrow, Type::bf16, 5e-2});
  }
  return variants;
}

StepMeasurement measure_steps(const StepRequest& request) {
  const Recipe recipe = variants_of(request).front().recipe;
  const Encoded data = encoded_training_text(recipe);
  StepMeasurement measured;
  measured.stock_peak = peak_of("stock", request, data);
  std::vector<Running> running = started(request, data);
  StockSide stock(recipe, running.front().side->model(), at::get_num_threads());
  const std::vector<Batch> batches = first_batches(recipe, data, warm_up + request.steps);
  measured.stock_gradient = stock.gradient(batches.front());
  for (Running& each : running) {
    each.times.gradient = each.side->gradient(batches.front());
    check_agreement(each.times.gradient, measured.stock_gradient, each.variant.tolerance);
  }
  for (int64_t i = 0; i < warm_up + request.steps; ++i) {
    if (i == warm_up) {
      for (Running& each : running) forget(each.times);
      measured.stock.clear();
      measured.tokens.clear();
      measured.operations = 0;
    }
    take_step(running, stock, batches[i], measured);
  }
  for (Running& each : running) measured.ours.push_back(std::move(each.times));
  return measured;
}

int64_t peak_of_steps(const StepRequest& request, const PeakRequest& peak) {
  const std::vector<Variant> variants = variants_of(request);
  const Encoded data = read_encoded(peak.vocabulary_size, peak.encoded);
  const std::vector<Batch> batches = first_batches(variants.front().recipe, data, peak_steps);
  for (const Variant& each : variants) {
    if (peak.side != each.precision) continue;
    OurSide ours(each.recipe, data.vocabulary_size);
    for (const Batch& batch : batches) ours.step(batch);
    return peak_resident();
  }
  auto ours = std::make_unique<OurSide>(variants.front().recipe, data.vocabulary_size);
  StockSide stock(variants.front().recipe, ours->model(), at::get_num_threads());
  ours.reset();
  for (const Batch& batch : batches) stock.step(batch);
  return peak_resident();
}

}  // namespace ballast::bench
