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
  int64_t stock_peak = 0;      ///< bytes
  Gradient stock_gradient;
};

/// Measures both peaks in processes of their own, makes sure that both sides compute the same, then
/// takes steps in turn. Tells the standard error how far it is.
StepMeasurement measure_steps(const StepRequest& request);

/// One of the processes that measure a peak: a few steps of one side on a corpus that the other
/// process has encoded.
struct PeakRequest {
  std::string side;  ///< "stock" or a precision of ours
  std::filesystem::path encoded;
  int64_t vocabulary_size = 0;
};

/// The peak memory of this process after these steps, in bytes.
int64_t peak_of_steps(const StepRequest& request, const PeakRequest& peak);

}  // namespace ballast::bench
