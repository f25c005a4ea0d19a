#include "ballast/layers/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ballast/base/error.h"

namespace ballast {

torch::Tensor sinusoids(int64_t first, int64_t length, int64_t d_model, PairLayout layout,
                        Frequencies frequencies_of) {
  const int64_t half = d_model / 2;
  const int64_t steps = frequencies_of == Frequencies::paper ? half : half - 1;
  const double step = std::log(10000.0) / std::max<double>(static_cast<double>(steps), 1);
  const torch::Tensor frequencies = torch::exp(torch::arange(half, torch::kFloat64) * -step);
  const torch::Tensor places = torch::arange(first, first + length, torch::kFloat64);
  const torch::Tensor angles = torch::outer(places, frequencies);
  const torch::Tensor pairs =
      torch::stack({angles.sin(), angles.cos()}, layout == PairLayout::halves ? 1 : 2);
  return pairs.reshape({length, 2 * half}).to(torch::kFloat32);
}

Positions::Positions(const PositionForm& form, int64_t d_model) : form_(form), d_model_(d_model) {
  if (form.scaled) scale = register_parameter("scale", torch::ones({d_model}));
  if (form.added != AddedPositions::table) return;
  table = register_parameter("table", torch::zeros({form.table_length, d_model}));
}

torch::Tensor Positions::added_to(const torch::Tensor& x, const torch::Tensor& places,
                                  int64_t longest) {
  return form_.added == AddedPositions::none ? x : x + vectors(places, longest);
}

torch::Tensor Positions::vectors(const torch::Tensor& places, int64_t longest) {
  if (table.defined()) {
    if (longest > table.size(0)) {
      throw DataError(fmt::format(
          "a sequence of {} tokens is longer than the {} learned positions of this model; shorten "
          "the text or train with a larger positions.max_length",
          longest, table.size(0)));
    }
    const torch::Tensor rows = table.index_select(0, places);
    return multiplier == 1 ? rows : rows * multiplier;
  }
  const torch::Tensor rows = sinusoids_up_to(longest, places.device()).index_select(0, places);
  return scale.defined() ? rows * scale : rows;
}

int64_t Positions::longest_sequence() const {
  return table.defined() ? table.size(0) : std::numeric_limits<int64_t>::max();
}

torch::Tensor Positions::sinusoids_up_to(int64_t longest, torch::Device device) {
  const std::lock_guard lock(growing_);
  const int64_t known = sinusoids_.defined() ? sinusoids_.size(0) : 0;
  if (!sinusoids_.defined() || known < longest || sinusoids_.device() != device) {
    const int64_t length = std::max<int64_t>({2 * known, longest, 64});
    sinusoids_ =
        sinusoids(form_.first, length, d_model_, form_.layout, form_.frequencies).to(device);
  }
  return sinusoids_;
}

std::vector<ParameterSlot> Positions::describe() {
  if (scale.defined()) {
    return {{.name = "scale",
             .tensor = scale,
             .facts = {.role = Role::point_factor, .fan_in = d_model_}}};
  }
  if (!table.defined()) return {};
  return {{.name = "table",
           .tensor = table,
           .facts = {.role = Role::position_embedding,
                     .fan_in = table.size(1),
                     .fan_out = table.size(0)},
           .multiplier = &multiplier}};
}

}  // namespace ballast
