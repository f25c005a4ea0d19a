#pragma once

#include <cstdint>
#include <tuple>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/parameterization/mup_rule.h"

namespace ballast {

/// The options that muP's rows share, described once.
template <class Options>
constexpr auto mup_fields() {
  return std::tuple{
      field("base_width", &Options::base_width,
            "d_model of the model whose learning rate fits: there nothing changes", at_least_one),
      field("base_head_size", &Options::base_head_size,
            "size of its heads, where heads grow with the width; 0: they keep their size",
            at_least_zero),
      field("attention_multiplier", &Options::attention_multiplier, "of the logits of attention",
            positive),
      field("output_multiplier", &Options::output_multiplier, "of the logits", positive)};
}

/// The options of the depth, beside those.
template <class Options>
constexpr auto depth_field() {
  return std::tuple{field("base_depth", &Options::base_depth,
                          "blocks in a stack of that model: there nothing changes", at_least_one)};
}

/// A row that says which rule it is by `rule()`.
template <class Row>
struct ByMupRule {
  ParameterFacts basis(const ParameterFacts& facts) const { return rule().basis(facts); }
  Scaling scaling(const ParameterFacts& facts, double std, UpdateSize update) const {
    return rule().scaling(facts, std, update);
  }
  double factor(const FactorFacts& facts) const { return rule().factor(facts); }
  bool operator==(const ByMupRule&) const = default;

 private:
  MupRule rule() const { return static_cast<const Row&>(*this).rule(); }
};

/// A learning rate found at the base width fits every width.
struct Mup : ByMupRule<Mup> {
  static constexpr KindInfo info{
      "mup", "logits / m, q k^T sqrt(K_base) / K, matrices ~ std / sqrt(m) at lr / m (Adam)",
      "Yang et al. 2022, arXiv:2203.03466"};
  static constexpr auto fields() { return mup_fields<Mup>(); }
  MupRule rule() const {
    return {base_width, base_head_size, attention_multiplier, output_multiplier};
  }
  bool operator==(const Mup&) const = default;

  int64_t base_width = 256, base_head_size = 0;
  double attention_multiplier = 1, output_multiplier = 1;
};

/// A learning rate fits every depth too. Needs branches that add up on the stream as they are, such
/// as Pre-Norm's.
struct DepthMup : ByMupRule<DepthMup> {
  static constexpr KindInfo info{"depth_mup",
                                 "mup; x + f(x) / sqrt(M), rates in f / sqrt(M) (Adam)",
                                 "Yang et al. 2023, arXiv:2310.02244"};
  static constexpr auto fields() {
    return std::tuple_cat(mup_fields<DepthMup>(), depth_field<DepthMup>());
  }
  MupRule rule() const {
    return {base_width, base_head_size, attention_multiplier, output_multiplier, base_depth, 0.5};
  }
  bool operator==(const DepthMup&) const = default;

  int64_t base_width = 256, base_head_size = 0;
  double attention_multiplier = 1, output_multiplier = 1;
  int64_t base_depth = 1;
};

/// With alpha = 1, every block keeps learning non-linearly at any depth. With alpha = 0.5 it is
/// `depth_mup`.
struct CompleteP : ByMupRule<CompleteP> {
  static constexpr KindInfo info{
      "complete_p",
      "mup; x + M^-alpha f(x), rates in f M^(alpha - 1), eps in f M^-alpha / m (Adam)",
      "Dey et al. 2025, arXiv:2505.01618"};
  static constexpr auto fields() {
    return std::tuple_cat(
        mup_fields<CompleteP>(), depth_field<CompleteP>(),
        std::tuple{field("alpha", &CompleteP::alpha, "power of the depth in a branch's factor",
                         Bounds{.low = 0.5, .high = 1})});
  }
  MupRule rule() const {
    return {base_width, base_head_size, attention_multiplier, output_multiplier, base_depth, alpha};
  }
  bool operator==(const CompleteP&) const = default;

  int64_t base_width = 256, base_head_size = 0;
  double attention_multiplier = 1, output_multiplier = 1;
  int64_t base_depth = 2;
  double alpha = 1;
};

}  // namespace ballast
