#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/corpus.h"
#include "bench/limit.h"
#include "bench/sides.h"

namespace ballast::bench {

/// What to measure, as the flags of `train_step` have it.
struct StepRequest {
  std::string model;
  std::filesystem::path corpus = default_corpus;
  std::string precision = "all";  ///< float32, bf16, or all that the processor has
  int64_t steps = 10;             ///< alternated ones after the warm-up
  int64_t batch_tokens = 4096;
  int threads = 0;
};

/// A precision in which our side trains, and what belongs to it.
struct Variant {
  std::string precision;
  Recipe recipe;
  dnnl::memory::data_type type;  ///< of the products of the limit
  double tolerance;              ///< relative, of loss and gradient norm beside stock libtorch
};

/// The variants asked for. Raises RecipeError for one that cannot be had here.
std::vector<Variant> variants_of(const StepRequest& request);

/// Of our side in one precision: seconds of each step, and of its matrix products in oneDNN.
struct OurTimes {
  std::string precision;
  std::vector<double> total, forward, backward, update, linear, attention;
  int64_t peak = 0;  ///< bytes
  Gradient gradient;
};

struct StepMeasurement {
  std::vector<OurTimes> ours;
  std::vector<double> stock;   ///< seconds of each step
  std::vector<double> tokens;  ///< target tokens of each step
  double operations = 0;       ///< of the matrix products of all steps together
  double pass_bytes = 0;       ///< of the passes besides, of all steps together
  std::vector<double> copied;  ///< bytes a second of plain copies, once per step
  std::string stock_setting;   ///< the setting that was fastest
  int64_t stock_peak = 0;      ///< bytes
  Gradient stock_gradient;
};

/// Starts a process for each side, makes sure that they compute the same, then lets them take steps
/// in turn. Tells the standard error how far it is.
StepMeasurement measure_steps(const StepRequest& request);

/// Answers what `measure_steps` asks the process of one side.
void serve_side(const StepRequest& request, const SideRequest& side);

}  // namespace ballast::bench
