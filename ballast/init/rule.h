#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/base/parameter.h"
#include "ballast/init/draw.h"

namespace ballast {

// A row of `init` answers for every role:
//
//     Draw table(const ParameterFacts&) const;    embeddings, positions, and an untied output
//     Draw matrix(const ParameterFacts&) const;   all other matrices
//     std::optional<Draw> vector(const ParameterFacts&) const;   absent: where their modules say
//
// Standard deviations are those with which a matrix acts; where they are kept is table two's
// business, as are the factors of the forward pass (`standard` multiplies a token's row by
// sqrt(d)). Letters: N encoder layers, M decoder layers, L layers of the matrix' own stack, n
// connections of that stack (2 L, 3 L in a decoder with a source), l its layer, from 1.

/// What rows do with tables: embeddings and an untied output are N(0, 1/d) (times sqrt(d) on the
/// way in that is a second moment of 1), unless the row says otherwise.
struct TablesByWidth {
  Draw table(const ParameterFacts& facts) const {
    return {Distribution::normal, 1 / std::sqrt(static_cast<double>(facts.fan_in))};
  }
  bool operator==(const TablesByWidth&) const = default;
};

/// Which of three variances a rule of the variance-scaling family gives, see `family_variance`.
enum class Family { lecun, glorot, he };

/// 1/fan_in (LeCun et al. 1998), 2/(fan_in + fan_out) (Glorot & Bengio 2010), 2/fan_in (He et al.
/// 2015). Fans count features of one matrix, also where several are stacked.
double family_variance(Family family, int64_t fan_in, int64_t fan_out);

/// Glorot's variance for a matrix.
inline double glorot_variance(const ParameterFacts& facts) {
  return family_variance(Family::glorot, facts.fan_in, facts.fan_out);
}

/// What a normal is cut to: not at all; cut, so that its values have less than the std that is
/// written (TensorFlow); or cut and widened, so that they have it (Keras, JAX).
enum class Truncation { none, uncorrected, corrected };

template <>
struct EnumNames<Truncation> {
  static constexpr std::array<std::pair<std::string_view, Truncation>, 3> value{
      {{"none", Truncation::none},
       {"uncorrected", Truncation::uncorrected},
       {"corrected", Truncation::corrected}}};
};

/// Of N(0, std^2), cut at +-cut std. At 2, uncorrected, values have 0.8796257 of the std: 0.0175925
/// of 0.02.
Draw gaussian(double std, Truncation truncation = Truncation::none, double cut = 2);

/// Width of the stream beside which a matrix works.
inline double stream_width(const ParameterFacts& facts) {
  return static_cast<double>(facts.site ? facts.site->d_model : facts.fan_in);
}

/// Why a matrix of this shape cannot be filled so; empty where it can. A mirrored one needs an even
/// number of what is mirrored.
std::string refusal_of(const Draw& draw, int64_t rows, int64_t columns);

/// The answers of the row that a list holds.
template <class... Rows>
Draw matrix_draw(const std::variant<Rows...>& choice, const ParameterFacts& facts) {
  return std::visit([&](const auto& row) { return row.matrix(facts); }, choice);
}

template <class... Rows>
std::optional<Draw> vector_draw(const std::variant<Rows...>& choice, const ParameterFacts& facts) {
  return std::visit(
      [&](const auto& row) -> std::optional<Draw> {
        if constexpr (requires { row.vector(facts); }) return row.vector(facts);
        return {};
      },
      choice);
}

}  // namespace ballast
