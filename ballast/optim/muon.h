#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/optim/plain_rules.h"
#include "ballast/optim/rule.h"

namespace ballast {

/// The factor of an orthogonal update [rows, columns].
enum class MuonScale {
  spectral,    ///< sqrt(max(1, rows / columns)) (Jordan's code)
  match_adam,  ///< 0.2 sqrt(max(rows, columns)): the rms of Adam's updates, so that its learning
               ///< rates fit (Moonlight, Liu et al. 2025, arXiv:2502.16982)
};

template <>
struct EnumNames<MuonScale> {
  static constexpr std::array<std::pair<std::string_view, MuonScale>, 2> value{
      {{"spectral", MuonScale::spectral}, {"match_adam", MuonScale::match_adam}}};
};

/// Momentum whose update is made orthogonal (`kernels/newton_schulz.h`), for the matrices between
/// embeddings and output projection. Embeddings, the output projection and vectors follow `rest`,
/// whose learning rate goes through the same schedule, from a peak of its own.
struct Muon {
  static constexpr KindInfo info{
      "muon",
      "m = momentum m + (1 - momentum) g; w -= lr (weight_decay w + scale U V^T) of m = U S V^T",
      "Jordan et al. 2024"};
  static constexpr auto fields() {
    return std::tuple{
        field("lr", &Muon::lr, "peak learning rate, per step", positive),
        field("momentum", &Muon::momentum, "decay of the mean of the gradient, per step",
              probability),
        field("nesterov", &Muon::nesterov, "of momentum m + (1 - momentum) g instead of m"),
        field("iterations", &Muon::iterations, "of Newton and Schulz, per step", at_least_one),
        field("eps", &Muon::eps, "added to the norm of what is made orthogonal", positive),
        field("scale", &Muon::scale, "factor of the update by the shape of the matrix"),
        field("weight_decay", &Muon::weight_decay, "share of a weight taken away per unit of lr",
              at_least_zero),
        field("rest", &Muon::rest, "the rule of embeddings, output projection and vectors")};
  }
  bool operator==(const Muon&) const = default;

  UpdateSize update_size() const {
    return scale == MuonScale::spectral ? UpdateSize::spectral : UpdateSize::full_rank;
  }
  bool serves(const ParameterFacts& facts) const {
    return !is_vector(facts.role) && !is_embedding(facts.role) && facts.role != Role::output;
  }
  std::vector<StateTensor> state(const ParameterFacts&) const { return {{"momentum"}}; }
  void update(std::span<const ParameterStep> all, int64_t t) const;

  double lr = 0.02, momentum = 0.95;
  bool nesterov = true;
  int64_t iterations = 5;
  double eps = 1e-7;
  MuonScale scale = MuonScale::spectral;
  double weight_decay = 0;
  PlainRule rest = AdamW{.lr = 3e-4, .beta2 = 0.95, .eps = 1e-10, .weight_decay = 0};
};

}  // namespace ballast
