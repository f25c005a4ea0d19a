#pragma once

#include <tuple>
#include <variant>

#include "ballast/init/rule.h"
#include "ballast/init/shape_inits.h"

namespace ballast {

// Rows that are named after the models and programs that have them.

/// T5's: all of 1/sqrt(K), by which other attentions divide their logits, lies in the queries, so
/// that they are not divided again (K features a head). Tables, a relative bias among them, and an
/// untied output as in the authors' code, for embeddings that are not multiplied on the way in.
struct T5Init {
  static constexpr KindInfo info{"t5", "N(0, 1/fan_in), q N(0, 1/(fan_in K)), tables N(0, 1)",
                                 "Raffel et al. 2020, arXiv:1910.10683"};
  double factor = 1;
  bool shared_by_key = false;
  Truncation truncation = Truncation::none;

  Draw table(const ParameterFacts&) const { return gaussian(factor); }
  Draw matrix(const ParameterFacts& facts) const;
  std::optional<Draw> vector(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("factor", &T5Init::factor, "on every standard deviation", at_least_zero),
        field("shared_by_key", &T5Init::shared_by_key,
              "q and k each with K^(-1/4), as an older layer of mesh-tensorflow has them, which T5 "
              "did not use"),
        field("truncation", &T5Init::truncation,
              "of the feed-forward layers, at 2 std: none (Hugging Face), uncorrected "
              "(mesh-tensorflow) or corrected"));
  }
  bool operator==(const T5Init&) const = default;
};

/// BERT's, for all matrices and tables. TensorFlow cuts at 2 std and does not correct, so that the
/// values have 0.0175925; Hugging Face does not cut.
struct BertInit {
  static constexpr KindInfo info{"bert", "N(0, std^2) cut at 2 std, uncorrected",
                                 "Devlin et al. 2018, arXiv:1810.04805"};
  double std = 0.02;
  Truncation truncation = Truncation::uncorrected;
  double cut = 2;

  Draw table(const ParameterFacts& facts) const { return matrix(facts); }
  Draw matrix(const ParameterFacts&) const { return gaussian(std, truncation, cut); }
  static constexpr auto fields() {
    return std::make_tuple(
        field("std", &BertInit::std, "of the normal", at_least_zero),
        field("truncation", &BertInit::truncation,
              "uncorrected (TensorFlow), none (Hugging Face) or corrected (the values have std)"),
        field("cut", &BertInit::cut, "ends, in standard deviations of the normal", positive));
  }
  bool operator==(const BertInit&) const = default;
};

/// GPT-2's. n is the number of connections of the stack, 2 L in GPT-2.
struct Gpt2Init {
  static constexpr KindInfo info{"gpt2",
                                 "N(0, std^2), positions half of std, ends of branches std/sqrt(n)",
                                 "Radford et al. 2019; nanoGPT"};
  double std = 0.02;
  double position_std = 0.01;
  bool scales_branches = true;

  Draw table(const ParameterFacts& facts) const {
    return gaussian(facts.role == Role::position_embedding ? position_std : std);
  }
  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(
        field("std", &Gpt2Init::std, "of matrices and tables", at_least_zero),
        field("position_std", &Gpt2Init::position_std, "of learned positions", at_least_zero),
        field("scales_branches", &Gpt2Init::scales_branches,
              "whether the last matrix of a branch is divided by sqrt(n): the paper, Hugging Face "
              "and nanoGPT; OpenAI's code has it not"));
  }
  bool operator==(const Gpt2Init&) const = default;
};

/// Megatron-LM's `scaled init`, tables and positions with sigma. n is the number of connections of
/// the stack, 2 L without a source.
struct MegatronInit {
  static constexpr KindInfo info{"megatron", "N(0, sigma^2), ends of branches sigma/sqrt(n)",
                                 "Shoeybi et al. 2019, arXiv:1909.08053"};
  double sigma = 0.02;

  Draw table(const ParameterFacts&) const { return gaussian(sigma); }
  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(field("sigma", &MegatronInit::sigma,
                                 "of all but the last matrix of a branch", at_least_zero));
  }
  bool operator==(const MegatronInit&) const = default;
};

/// Attention is drawn as Glorot draws a d x 4d matrix; feed-forward layers are Glorot normal, which
/// is the same for d_ff = 4d, or get the same number by name.
struct SmallInit : TablesByWidth {
  static constexpr KindInfo info{"small_init", "N(0, 2/(5d)), feed-forward N(0, 2/(d+d_ff))",
                                 "Nguyen and Salazar 2019, arXiv:1910.05895"};
  bool everywhere = false;

  Draw matrix(const ParameterFacts& facts) const;
  static constexpr auto fields() {
    return std::make_tuple(field("everywhere", &SmallInit::everywhere,
                                 "2/(5d) for feed-forward layers too (GPT-NeoX)"));
  }
  bool operator==(const SmallInit&) const = default;
};

/// GPT-J's and GPT-NeoX's: the last matrix of a branch by the L layers of its stack, all others as
/// `small_init` everywhere.
struct WangInit : TablesByWidth {
  static constexpr KindInfo info{"wang", "ends of branches N(0, 4/(L^2 d)), others N(0, 2/(5d))",
                                 "GPT-J; GPT-NeoX"};

  Draw matrix(const ParameterFacts& facts) const;
  bool operator==(const WangInit&) const = default;
};

/// Tables so small that an embedding turns within a few updates; a norm has to follow them
/// (`peri_norm` has one). Learned positions are 0. With a bound of 0.01 it is what FixNorm starts
/// from (Nguyen and Salazar 2019).
struct SmallInitEmbeddings {
  static constexpr KindInfo info{"small_init_embeddings", "tables U(+-bound), positions 0",
                                 "BlinkDL, SmallInitEmb"};
  double bound = 1e-4;
  ShapeInits matrices;

  Draw table(const ParameterFacts& facts) const;
  Draw matrix(const ParameterFacts& facts) const { return matrix_draw(matrices, facts); }
  std::optional<Draw> vector(const ParameterFacts& facts) const {
    return vector_draw(matrices, facts);
  }
  static constexpr auto fields() {
    return std::make_tuple(
        field("bound", &SmallInitEmbeddings::bound, "of the embeddings", at_least_zero),
        field("matrices", &SmallInitEmbeddings::matrices, "the rule of all other matrices"));
  }
  bool operator==(const SmallInitEmbeddings&) const = default;
};

using ModelInits = std::variant<T5Init, BertInit, Gpt2Init, MegatronInit, SmallInit, WangInit,
                                SmallInitEmbeddings>;

}  // namespace ballast
