#include "ballast/layers/relative_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "ballast/base/error.h"

namespace ballast {

torch::Tensor next_places(std::span<const int64_t> tokens) {
  const auto differs = [&](int64_t each) { return each != tokens.front(); };
  if (std::none_of(tokens.begin(), tokens.end(), differs)) {
    return torch::full({1}, tokens.empty() ? 0 : tokens.front(), torch::kInt64);
  }
  return torch::tensor(std::vector<int64_t>(tokens.begin(), tokens.end()), torch::kInt64);
}

torch::Tensor places_of(const Segments& segments, torch::Device device) {
  torch::Tensor places = torch::empty({segments.tokens()}, torch::kInt64);
  int64_t* out = places.data_ptr<int64_t>();
  for (int64_t i = 0; i < segments.count(); ++i) {
    const int64_t length = segments.length(i);
    std::iota(out, out + length, segments.first_place(i));
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
    : form_(form), d_head_(d_head), causal_(causal) {
  if (form.rotary_base > 0 && d_head % 2 != 0) {
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

Columns turned(const Columns& x, const RelativePlaces& places) {
  if (!places.cosine.defined()) return x;
  const torch::Tensor rows = x.alone();
  const int64_t count = rows.size(0), half = places.cosine.size(2);
  const int64_t heads = rows.size(1) / (2 * half);
  const bool halves = places.layout == PairLayout::halves;
  const int64_t which = halves ? 2 : 3;  // of a pair: [N, H, 2, K/2] or [N, H, K/2, 2]
  const torch::Tensor pairs = rows.reshape(halves ? std::vector{count, heads, int64_t{2}, half}
                                                  : std::vector{count, heads, half, int64_t{2}});
  const torch::Tensor a = pairs.select(which, 0), b = pairs.select(which, 1);
  return torch::stack({a * places.cosine - b * places.sine, b * places.cosine + a * places.sine},
                      which)
      .view(rows.sizes());
}

RelativePlaces RelativePositions::of(const Segments& segments,
                                     const torch::TensorOptions& like) const {
  const int64_t reach = std::max<int64_t>(segments.longest() - 1, 0);
  return made(places_of(segments, torch::kCPU), torch::arange(-reach, reach + 1), like);
}

RelativePlaces RelativePositions::of_last(std::span<const int64_t> keys,
                                          const torch::TensorOptions& like) const {
  const int64_t most = keys.empty() ? 1 : *std::max_element(keys.begin(), keys.end());
  return made(next_places(keys) - 1, torch::arange(1 - most, 1), like);
}

RelativePlaces RelativePositions::made(const torch::Tensor& places, const torch::Tensor& distances,
                                       const torch::TensorOptions& like) const {
  RelativePlaces found{.layout = form_.layout};
  if (form_.rotary_base > 0) {
    const int64_t half = d_head_ / 2;
    const torch::Tensor steps = torch::arange(half, torch::kFloat64) / static_cast<double>(half);
    const torch::Tensor angles =
        torch::outer(places.to(torch::kFloat64), torch::pow(form_.rotary_base, -steps))
            .unsqueeze(1);
    found.cosine = angles.cos().to(like);
    found.sine = angles.sin().to(like);
  }
  if (form_.distance != DistanceRule::none) found.bias = bias_at(distances, like.device());
  return found;
}

/// [H, distances].
torch::Tensor RelativePositions::bias_at(const torch::Tensor& distances,
                                         torch::Device device) const {
  if (form_.distance == DistanceRule::buckets) {
    return table.index_select(1, bucket_of(distances).to(device));
  }
  return -torch::outer(slopes_, distances.abs().to(torch::kFloat32)).to(device);
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
