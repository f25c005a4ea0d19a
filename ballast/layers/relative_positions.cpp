#include "ballast/layers/relative_positions.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "ballast/base/error.h"

namespace ballast {

torch::Tensor places_of(const Segments& segments, torch::Device device) {
  torch::Tensor places = torch::empty({segments.tokens()}, torch::kInt64);
  int64_t* out = places.data_ptr<int64_t>();
  for (const int64_t length : segments.lengths()) {
    std::iota(out, out + length, 0);
    out += length;
  }
  return places.to(device);
}

std::vector<double> alibi_slopes(int64_t heads) {
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const auto slope = [](int64_t h, int64_t of) {
    return std::exp2(-8 * static_cast<double>(h) / static_cast<double>(of));
  };
  std::vector<double> slopes;
  for (int64_t h = 1; h <= below; ++h) slopes.push_back(slope(h, below));
  for (int64_t h = 1; h <= heads - below; ++h) slopes.push_back(slope(2 * h - 1, 2 * below));
  return slopes;
}

RelativePositions::RelativePositions(const PositionForm& form, int64_t heads, int64_t d_head,
                                     bool causal)
    : form_(form), heads_(heads), d_head_(d_head), causal_(causal) {
  if (turns() && d_head % 2 != 0) {
    throw RecipeError(fmt::format(
        "rotary positions turn pairs of features, and a head has {}; expected an even number",
        d_head));
  }
  if (form.distance == DistanceRule::buckets) {
    table = register_parameter("table", torch::zeros({heads, form.buckets}));
  }
  if (form.distance == DistanceRule::slopes) {
    slopes_ = torch::tensor(alibi_slopes(heads), torch::kFloat32);
  }
}

Columns RelativePositions::turned(const Columns& x, const torch::Tensor& places) const {
  if (!turns()) return x;
  const torch::Tensor rows = x.alone();
  const int64_t half = d_head_ / 2;
  const torch::Tensor steps = torch::arange(half, torch::kFloat64) / static_cast<double>(half);
  const torch::Tensor angles =
      torch::outer(places.to(torch::kCPU, torch::kFloat64), torch::pow(form_.rotary_base, -steps))
          .unsqueeze(1);
  const torch::Tensor cosine = angles.cos().to(rows.options()),
                      sine = angles.sin().to(rows.options());
  const bool halves = form_.layout == PairLayout::halves;
  const int64_t which = halves ? 2 : 3;  // of a pair: [N, H, 2, K/2] or [N, H, K/2, 2]
  const torch::Tensor pairs =
      rows.reshape(halves ? std::vector{rows.size(0), heads_, int64_t{2}, half}
                          : std::vector{rows.size(0), heads_, half, int64_t{2}});
  const torch::Tensor a = pairs.select(which, 0), b = pairs.select(which, 1);
  return torch::stack({a * cosine - b * sine, b * cosine + a * sine}, which)
      .view({rows.size(0), heads_ * d_head_});
}

torch::Tensor RelativePositions::bias(int64_t longest) const {
  if (form_.distance == DistanceRule::none) return {};
  const int64_t reach = std::max<int64_t>(longest - 1, 0);
  return bias_at(torch::arange(-reach, reach + 1));
}

torch::Tensor RelativePositions::bias_of_last(int64_t keys) const {
  if (form_.distance == DistanceRule::none) return {};
  return bias_at(torch::arange(1 - keys, 1));
}

/// [H, distances].
torch::Tensor RelativePositions::bias_at(const torch::Tensor& distances) const {
  if (form_.distance == DistanceRule::buckets) {
    return table.index_select(1, bucket_of(distances).to(table.device()));
  }
  return -torch::outer(slopes_, distances.abs().to(torch::kFloat32));
}

// mesh-tensorflow's: half of the buckets for single distances, the others ever wider up to the
// reach; in an encoder one half of all for keys after the query.
torch::Tensor RelativePositions::bucket_of(const torch::Tensor& distances) const {
  const int64_t count = causal_ ? form_.buckets : form_.buckets / 2;
  const int64_t exact = count / 2;
  const torch::Tensor far = causal_ ? (-distances).clamp_min(0) : distances.abs();
  const double width =
      std::log(static_cast<double>(form_.bucket_reach) / static_cast<double>(exact));
  const torch::Tensor wide =
      (far.clamp_min(1).to(torch::kFloat64).div(static_cast<double>(exact)).log() / width *
       static_cast<double>(count - exact))
          .to(torch::kInt64) +
      exact;
  const torch::Tensor bucket = torch::where(far < exact, far, wide.clamp_max(count - 1));
  return causal_ ? bucket : bucket + (distances > 0).to(torch::kInt64) * count;
}

std::vector<ParameterSlot> RelativePositions::describe() {
  if (!table.defined()) return {};
  return {{.name = "table",
           .tensor = table,
           .facts = {.role = Role::position_bias, .fan_in = table.size(1)}}};
}

}  // namespace ballast
