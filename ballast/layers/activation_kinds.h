#pragma once

#include <tuple>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/kernels/activation.h"

namespace ballast {

/// A kind of activation without options. What a kind computes is said by its `info`; ReLU is the
/// original Transformer's, GELU that of BERT and GPT, SwiGLU that of LLaMA. Kinds whose function
/// has no loop (`has_loop` in loops/) cost a pass of ATen of their own.
template <Elementwise function, bool gated = false>
struct PlainActivation {
  constexpr Activation form() const { return {function, gated}; }
  bool operator==(const PlainActivation&) const = default;
};

struct Relu : PlainActivation<Elementwise::relu> {
  static constexpr KindInfo info{"relu", "max(x, 0)", "Nair and Hinton 2010"};
};
struct Gelu : PlainActivation<Elementwise::gelu> {
  static constexpr KindInfo info{"gelu", "x Phi(x), by erf",
                                 "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
};
struct GeluTanh : PlainActivation<Elementwise::gelu_tanh> {
  static constexpr KindInfo info{"gelu_tanh", "gelu with tanh for erf (BERT's and GPT-2's code)",
                                 "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
};
struct Silu : PlainActivation<Elementwise::silu> {
  static constexpr KindInfo info{"silu", "x sigmoid(x)", "Elfwing et al. 2017, arXiv:1702.03118"};
};
struct Mish : PlainActivation<Elementwise::mish> {
  static constexpr KindInfo info{"mish", "x tanh(softplus(x))", "Misra 2019, arXiv:1908.08681"};
};
struct Selu : PlainActivation<Elementwise::selu> {
  static constexpr KindInfo info{"selu", "1.0507 (x, or 1.6733 (e^x - 1) below 0)",
                                 "Klambauer et al. 2017, arXiv:1706.02515"};
};
struct Tanh : PlainActivation<Elementwise::tanh> {
  static constexpr KindInfo info{"tanh", "tanh(x)", "LeCun et al. 1998"};
};
struct Sigmoid : PlainActivation<Elementwise::sigmoid> {
  static constexpr KindInfo info{"sigmoid", "1 / (1 + e^-x)", "Rumelhart et al. 1986"};
};
struct Softplus : PlainActivation<Elementwise::softplus> {
  static constexpr KindInfo info{"softplus", "ln(1 + e^x)", "Dugas et al. 2001"};
};
struct ReluSquared : PlainActivation<Elementwise::relu_squared> {
  static constexpr KindInfo info{"relu_squared", "max(x, 0)^2", "So et al. 2021, arXiv:2109.08668"};
};

struct LeakyRelu {
  static constexpr KindInfo info{"leaky_relu", "x, or slope x below 0", "Maas et al. 2013"};
  double slope = 0.01;

  constexpr Activation form() const { return {Elementwise::leaky_relu, false, slope}; }
  static constexpr auto fields() {
    return std::make_tuple(field("slope", &LeakyRelu::slope, "below 0"));
  }
  bool operator==(const LeakyRelu&) const = default;
};

struct Elu {
  static constexpr KindInfo info{"elu", "x, or alpha (e^x - 1) below 0",
                                 "Clevert et al. 2015, arXiv:1511.07289"};
  double alpha = 1;

  constexpr Activation form() const { return {Elementwise::elu, false, alpha}; }
  static constexpr auto fields() {
    return std::make_tuple(field("alpha", &Elu::alpha, "distance to the limit below", positive));
  }
  bool operator==(const Elu&) const = default;
};

// Gated pairs, all of Shazeer's: f(W_g x) * W_u x. They have three matrices in place of two; with
// 2/3 of d_ff a layer has as many parameters as without a gate.

struct Bilinear : PlainActivation<Elementwise::identity, true> {
  static constexpr KindInfo info{"bilinear", "g u", "Shazeer 2020, arXiv:2002.05202"};
};
struct Glu : PlainActivation<Elementwise::sigmoid, true> {
  static constexpr KindInfo info{"glu", "sigmoid(g) u", "Dauphin et al. 2016, arXiv:1612.08083"};
};
struct ReGlu : PlainActivation<Elementwise::relu, true> {
  static constexpr KindInfo info{"reglu", "relu(g) u", "Shazeer 2020, arXiv:2002.05202"};
};
struct GeGlu : PlainActivation<Elementwise::gelu, true> {
  static constexpr KindInfo info{"geglu", "gelu(g) u, by erf", "Shazeer 2020, arXiv:2002.05202"};
};
struct SwiGlu : PlainActivation<Elementwise::silu, true> {
  static constexpr KindInfo info{"swiglu", "silu(g) u", "Shazeer 2020, arXiv:2002.05202"};
};

/// Every activation a recipe can name.
using ActivationChoice =
    std::variant<Relu, Gelu, GeluTanh, Silu, ReGlu, GeGlu, SwiGlu, LeakyRelu, Elu, Selu, Mish, Tanh,
                 Sigmoid, Softplus, ReluSquared, Glu, Bilinear>;

inline Activation form_of(const ActivationChoice& choice) {
  return std::visit([](const auto& kind) { return kind.form(); }, choice);
}

}  // namespace ballast
