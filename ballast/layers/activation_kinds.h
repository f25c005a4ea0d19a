#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"
#include "ballast/kernels/activation.h"

namespace ballast {

/// To what an activation is brought by a factor and a shift, where its argument is N(0, 1).
enum class Normalize { none, second_moment, mean_and_variance };

template <>
struct EnumNames<Normalize> {
  static constexpr std::array<std::pair<std::string_view, Normalize>, 3> value{
      {{"none", Normalize::none},
       {"second_moment", Normalize::second_moment},
       {"mean_and_variance", Normalize::mean_and_variance}}};
};

/// f / sqrt(E f^2), or (f - E f) / sqrt(Var f), for the moments under N(0, 1); those of a gated
/// pair are the pair's, whose mean is 0. The activation's own scale and shift are replaced.
Activation normalized(Activation activation, Normalize normalize);

inline constexpr std::string_view normalize_help =
    "for an argument from N(0, 1): second_moment divides by sqrt(E f^2), mean_and_variance is "
    "(f - E f) / sqrt(Var f)";

/// A kind of activation without options of its own. What a kind computes is said by its `info`;
/// ReLU is the original Transformer's, GELU that of BERT and GPT, SwiGLU that of LLaMA. Kinds whose
/// function has no loop (`has_loop` in loops/) cost a pass of ATen of their own.
template <class Self, Elementwise function, bool gated = false>
struct PlainActivation {
  Normalize normalize = Normalize::none;

  Activation form() const { return normalized({function, gated}, normalize); }
  static constexpr auto fields() {
    return std::make_tuple(
        field<Self, Normalize>("normalize", &PlainActivation::normalize, normalize_help));
  }
  bool operator==(const PlainActivation&) const = default;
};

struct Relu : PlainActivation<Relu, Elementwise::relu> {
  static constexpr KindInfo info{"relu", "max(x, 0)", "Nair and Hinton 2010"};
};
struct Gelu : PlainActivation<Gelu, Elementwise::gelu> {
  static constexpr KindInfo info{"gelu", "x Phi(x), by erf",
                                 "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
};
struct GeluTanh : PlainActivation<GeluTanh, Elementwise::gelu_tanh> {
  static constexpr KindInfo info{"gelu_tanh", "gelu with tanh for erf (BERT's and GPT-2's code)",
                                 "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
};
struct QuickGelu : PlainActivation<QuickGelu, Elementwise::quick_gelu> {
  static constexpr KindInfo info{"quick_gelu", "x sigmoid(1.702 x) (CLIP's code)",
                                 "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
};
struct Silu : PlainActivation<Silu, Elementwise::silu> {
  static constexpr KindInfo info{"silu", "x sigmoid(x)", "Elfwing et al. 2017, arXiv:1702.03118"};
};
struct Mish : PlainActivation<Mish, Elementwise::mish> {
  static constexpr KindInfo info{"mish", "x tanh(softplus(x))", "Misra 2019, arXiv:1908.08681"};
};
struct Selu : PlainActivation<Selu, Elementwise::selu> {
  static constexpr KindInfo info{"selu", "1.0507 (x, or 1.6733 (e^x - 1) below 0)",
                                 "Klambauer et al. 2017, arXiv:1706.02515"};
};
struct Tanh : PlainActivation<Tanh, Elementwise::tanh> {
  static constexpr KindInfo info{"tanh", "tanh(x)", "LeCun et al. 1998"};
};
struct Sigmoid : PlainActivation<Sigmoid, Elementwise::sigmoid> {
  static constexpr KindInfo info{"sigmoid", "1 / (1 + e^-x)", "Rumelhart et al. 1986"};
};
struct Erf : PlainActivation<Erf, Elementwise::erf> {
  static constexpr KindInfo info{"erf", "erf(x)", "Williams 1996"};
};
struct Softsign : PlainActivation<Softsign, Elementwise::softsign> {
  static constexpr KindInfo info{"softsign", "x / (1 + |x|)", "Bergstra et al. 2009"};
};
struct Softplus : PlainActivation<Softplus, Elementwise::softplus> {
  static constexpr KindInfo info{"softplus", "ln(1 + e^x)", "Dugas et al. 2001"};
};
struct ReluSquared : PlainActivation<ReluSquared, Elementwise::relu_squared> {
  static constexpr KindInfo info{"relu_squared", "max(x, 0)^2", "So et al. 2021, arXiv:2109.08668"};
};

struct LeakyRelu {
  static constexpr KindInfo info{"leaky_relu", "x, or slope x below 0", "Maas et al. 2013"};
  double slope = 0.01;
  Normalize normalize = Normalize::none;

  Activation form() const { return normalized({Elementwise::leaky_relu, false, slope}, normalize); }
  static constexpr auto fields() {
    return std::make_tuple(field("slope", &LeakyRelu::slope, "below 0"),
                           field("normalize", &LeakyRelu::normalize, normalize_help));
  }
  bool operator==(const LeakyRelu&) const = default;
};

struct Elu {
  static constexpr KindInfo info{"elu", "x, or alpha (e^x - 1) below 0",
                                 "Clevert et al. 2015, arXiv:1511.07289"};
  double alpha = 1;
  Normalize normalize = Normalize::none;

  Activation form() const { return normalized({Elementwise::elu, false, alpha}, normalize); }
  static constexpr auto fields() {
    return std::make_tuple(field("alpha", &Elu::alpha, "distance to the limit below", positive),
                           field("normalize", &Elu::normalize, normalize_help));
  }
  bool operator==(const Elu&) const = default;
};

// Gated pairs, all of Shazeer's: f(W_g x) * W_u x. They have three matrices in place of two; with
// 2/3 of d_ff a layer has as many parameters as without a gate.

struct Bilinear : PlainActivation<Bilinear, Elementwise::identity, true> {
  static constexpr KindInfo info{"bilinear", "g u", "Shazeer 2020, arXiv:2002.05202"};
};
struct Glu : PlainActivation<Glu, Elementwise::sigmoid, true> {
  static constexpr KindInfo info{"glu", "sigmoid(g) u", "Dauphin et al. 2016, arXiv:1612.08083"};
};
struct ReGlu : PlainActivation<ReGlu, Elementwise::relu, true> {
  static constexpr KindInfo info{"reglu", "relu(g) u", "Shazeer 2020, arXiv:2002.05202"};
};
struct GeGlu : PlainActivation<GeGlu, Elementwise::gelu, true> {
  static constexpr KindInfo info{"geglu", "gelu(g) u, by erf", "Shazeer 2020, arXiv:2002.05202"};
};
struct GeGluTanh : PlainActivation<GeGluTanh, Elementwise::gelu_tanh, true> {
  static constexpr KindInfo info{"geglu_tanh", "gelu_tanh(g) u (T5 1.1's code)",
                                 "Shazeer 2020, arXiv:2002.05202"};
};
struct SwiGlu : PlainActivation<SwiGlu, Elementwise::silu, true> {
  static constexpr KindInfo info{"swiglu", "silu(g) u", "Shazeer 2020, arXiv:2002.05202"};
};

/// Every activation a recipe can name.
using ActivationChoice = std::variant<Relu, Gelu, GeluTanh, Silu, ReGlu, GeGlu, SwiGlu, LeakyRelu,
                                      Elu, Selu, Mish, Tanh, Sigmoid, Softplus, ReluSquared, Glu,
                                      Bilinear, GeGluTanh, QuickGelu, Softsign, Erf>;

inline Activation form_of(const ActivationChoice& choice) {
  return std::visit([](const auto& kind) { return kind.form(); }, choice);
}

}  // namespace ballast
