// The whole training step of one model on real batches, ours beside stock libtorch in alternation,
// and beside the time that the step's matrix products alone take in oneDNN.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "ballast/verbs/machine.h"
#include "bench/models.h"
#include "bench/process.h"
#include "bench/step_report.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

struct Flags {
  StepRequest request{.model = model_names().front()};
  SideRequest side;
  bool json = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  StepRequest& request = flags.request;
  app.add_option("--model", request.model, "Which model")
      ->check(CLI::IsMember(model_names()))
      ->capture_default_str();
  app.add_option("--steps", request.steps, "Alternated steps after the warm-up")
      ->check(CLI::Range(10, 100000))
      ->capture_default_str();
  app.add_option("--batch-tokens", request.batch_tokens, "Most tokens of a batch, on either side")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", request.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--precision", request.precision, "float32, bf16, or all that the processor has")
      ->check(CLI::IsMember({"float32", "bf16", "all"}))
      ->capture_default_str();
  app.add_option("--corpus", request.corpus, "Folder with train.en, train.de, test.en and test.de")
      ->capture_default_str();
  app.add_flag("--json", flags.json, "Print one JSON object");
  flags.side.add_to(app);
}

void run(const Flags& flags) {
  set_up_machine(
      {.threads = flags.request.threads, .device = "cpu", .pooled = flags.side.side != "stock"});
  if (flags.side.all_blas_threads) set_blas_threads(at::get_num_threads());
  if (!flags.side.side.empty()) return serve_side(flags.request, flags.side);
  const auto found = summary(flags.request, measure_steps(flags.request));
  fmt::print("{}", flags.json ? found.dump(2) + "\n" : table_of(found));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The whole training step, ours beside stock libtorch and beside the limit"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  return guarded("train_step", [&] { run(flags); });
}
