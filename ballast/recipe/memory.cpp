#include "ballast/recipe/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "ballast/base/error.h"
#include "ballast/train/progress.h"

namespace ballast {
namespace {

double number(int64_t value) { return static_cast<double>(value); }

/// Bytes that this process can have at the very most.
double most_memory() {
  struct sysinfo machine {};
  struct rlimit limit {};
  ::sysinfo(&machine);
  double bytes = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) *
                 machine.mem_unit;
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
  }
  return bytes;
}

double table_weights(const ModelOptions& options, const VocabularySizes& sizes) {
  const double d = number(options.d_model);
  const double source = options.shape().has_source ? number(sizes.source) : 0;
  const double target = number(sizes.target);
  switch (options.share_embeddings) {
    case EmbeddingSharing::automatic:  // as little as it can be
    case EmbeddingSharing::all:
      return target * d;
    case EmbeddingSharing::target_output:
      return (source + target) * d;
    case EmbeddingSharing::none:
      return (source + 2 * target) * d;
  }
  return 0;
}

}  // namespace

double matrix_weights(const ModelOptions& options, const VocabularySizes& sizes) {
  const double d = number(options.d_model);
  const double heads = number(options.heads), of_head = d * number(options.d_head());
  const double shared = number(options.key_value_heads.value_or(options.heads));
  const double attention = 2 * of_head * (heads + shared);
  const double feed_forward = 2 * d * number(options.d_ff);
  const double encoder = number(options.layers(Stack::encoder)) * (attention + feed_forward);
  const double decoder = number(options.layers(Stack::decoder)) *
                         ((options.shape().has_source ? 2 : 1) * attention + feed_forward);
  const double positions = number(form_of(options.positions).table_length) * d;
  const double transform = options.output_transform ? d * d : 0;
  return encoder + decoder + positions + transform + table_weights(options, sizes);
}

void refuse_too_large(const Recipe& recipe, const VocabularySizes& sizes, Purpose purpose) {
  const ModelOptions& options = recipe.model;
  constexpr double bytes_of_float = 4;
  const double weights = matrix_weights(options, sizes);
  const double copies =
      purpose == Purpose::training ? 2 + least_state_per_weight(recipe.optimizer) : 1;
  const double needed = weights * bytes_of_float * copies;
  const double there = most_memory();
  if (needed <= there) return;
  throw ResourceError(fmt::format(
      "out of memory: a model with model.d_model = {}, model.d_ff = {} and a vocabulary of {} has "
      "at "
      "least {} weights, which {} take {}B, but at most {}B can be had here; lower model.d_model, "
      "model.d_ff, the layers or the vocabulary",
      options.d_model, options.d_ff, sizes.target, human_count(weights),
      purpose == Purpose::training ? "with gradients and the optimizer's state" : "alone",
      human_count(needed), human_count(there)));
}

}  // namespace ballast
