#include "bench/step_measurement.h"

#include <fmt/format.h>

#include <memory>

#include "ballast/kernels/bf16.h"
#include "bench/models.h"
#include "bench/setting.h"

namespace ballast::bench {
namespace {

constexpr int64_t warm_up = 2;

/// Our side in one precision, with the timer of its products.
struct Running {
  Variant variant;
  std::unique_ptr<Peer> peer;
  std::unique_ptr<ProductTimer> timer;
  OurTimes times;
};

/// The process of one side; "stock" in a setting of its own.
std::unique_ptr<Peer> peer_of(const std::string& side, const Handed& handed,
                              const StepRequest& request, const Setting& setting) {
  const auto text = [](int64_t number) { return fmt::format("{}", number); };
  std::vector<std::string> arguments = handed.arguments();
  for (const std::string& word :
       {std::string("--side"), side, std::string("--model"), request.model,
        std::string("--batch-tokens"), text(request.batch_tokens), std::string("--threads"),
        text(request.threads), std::string("--steps"), text(warm_up + request.steps)}) {
    arguments.push_back(word);
  }
  return side_process(arguments, setting);
}

StepTime step(Peer& peer, int64_t batch) {
  const nlohmann::json time = peer.ask(batch);
  return {time[0], time[1], time[2]};
}

Gradient gradient(Peer& peer) {
  const nlohmann::json found = peer.ask("gradient");
  return {found[0], found[1]};
}

std::vector<Running> started(const StepRequest& request, const Handed& handed) {
  std::vector<Running> running;
  for (const Variant& each : variants_of(request)) {
    running.push_back({each,
                       peer_of(each.precision, handed, request, our_setting()),
                       std::make_unique<ProductTimer>(each.type),
                       {.precision = each.precision}});
  }
  return running;
}

void take(OurTimes& times, const StepTime& step) {
  times.total.push_back(step.total());
  times.forward.push_back(step.forward);
  times.backward.push_back(step.backward);
  times.update.push_back(step.update);
}

/// One side after the other takes the step, then its products alone.
void take_step(std::vector<Running>& running, Peer& stock, int64_t number, const Products& products,
               StepMeasurement& measured) {
  for (Running& each : running) take(each.times, step(*each.peer, number));
  measured.stock.push_back(step(stock, number).total());
  measured.operations += operations_of(products.linear) + operations_of(products.attention);
  for (Running& each : running) {
    each.times.linear.push_back(each.timer->seconds(products.linear));
    each.times.attention.push_back(each.timer->seconds(products.attention));
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
  const Encoded data = encoded(recipe, recipe.data.train);
  const Handed handed(data);
  const Setting best = best_stock_setting([&](const Setting& setting) {
    const auto peer = peer_of("stock", handed, request, setting);
    step(*peer, 0);
    return step(*peer, 1).total() + step(*peer, 2).total();
  });
  std::vector<Running> running = started(request, handed);
  const auto stock = peer_of("stock", handed, request, best);
  StepMeasurement measured{.stock_setting = best.name, .stock_gradient = gradient(*stock)};
  for (Running& each : running) {
    each.times.gradient = gradient(*each.peer);
    check_agreement(each.times.gradient, measured.stock_gradient, each.variant.tolerance);
  }
  for (int64_t i = 0; i < warm_up; ++i) {
    for (Running& each : running) step(*each.peer, i);
    step(*stock, i);
  }
  const auto model = build_model(recipe, {data.vocabulary_size, data.vocabulary_size}).model;
  const std::vector<Batch> batches = first_batches(recipe, data, warm_up + request.steps);
  for (int64_t i = warm_up; i < warm_up + request.steps; ++i) {
    take_step(running, *stock, i, products_of(*model, batches[i]), measured);
    measured.pass_bytes += pass_bytes_of(*model, batches[i]);
    measured.copied.push_back(copied_bytes_per_second());
    measured.tokens.push_back(static_cast<double>(batches[i].tokens));
  }
  measured.stock_peak = stock->ask("peak");
  for (Running& each : running) {
    each.times.peak = each.peer->ask("peak");
    measured.ours.push_back(std::move(each.times));
  }
  return measured;
}

}  // namespace ballast::bench
