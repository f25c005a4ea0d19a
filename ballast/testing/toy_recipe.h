#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "ballast/base/choice.h"
#include "ballast/base/fields.h"

/// Options that mean nothing, for the tests of `options/`: every type that a struct may hold
/// occurs, and every way to hold it (optional, list, array, choice within a choice, kind without
/// options).
namespace ballast::toy {

enum class Activation { relu, gelu };

struct LayerNorm {
  static constexpr KindInfo info{"layer_norm", "(x - mean) / std", "Ba et al. 2016"};
  double epsilon = 1e-5;
  std::optional<double> momentum{};

  static constexpr auto fields() {
    return std::tuple{field("epsilon", &LayerNorm::epsilon, "added to the variance", positive),
                      field("momentum", &LayerNorm::momentum, "of running means", probability)};
  }
  bool operator==(const LayerNorm&) const = default;
};

struct NoNorm {
  static constexpr KindInfo info{"identity", "x", ""};
  bool operator==(const NoNorm&) const = default;
};

using Norm = std::variant<LayerNorm, NoNorm>;

struct PostNorm {
  static constexpr KindInfo info{"post_norm", "norm(x + f(x))", "Vaswani et al. 2017"};
  Norm norm = LayerNorm{.epsilon = 1e-6};

  static constexpr auto fields() {
    return std::tuple{field("norm", &PostNorm::norm, "after the sum")};
  }
  bool operator==(const PostNorm&) const = default;
};

struct Admin {
  static constexpr KindInfo info{"admin", "norm(omega x + f(x)) | profiled", "Liu et al. 2020"};
  std::string output_change = "log";
  int batches = 1;

  static constexpr auto fields() {
    return std::tuple{field("output_change", &Admin::output_change, "wanted growth"),
                      field("batches", &Admin::batches, "to profile", at_least_one)};
  }
  bool operator==(const Admin&) const = default;
};

struct Attention {
  int64_t heads = 8;
  std::array<double, 2> dropout{0.1, 0.0};

  static constexpr auto fields() {
    return std::tuple{field("heads", &Attention::heads, "per layer", at_least_one),
                      field("dropout", &Attention::dropout, "weights, output", probability)};
  }
  bool operator==(const Attention&) const = default;
};

struct Model {
  int64_t d_model = 512;
  Activation activation = Activation::relu;
  std::variant<PostNorm, Admin> residual{};
  Norm norm{};
  Attention attention{};
  std::optional<Attention> cross{};

  static constexpr auto fields() {
    return std::tuple{field("d_model", &Model::d_model, "features", at_least_one),
                      field("activation", &Model::activation, "in the feed-forward branch"),
                      field("residual", &Model::residual, "connection"),
                      field("norm", &Model::norm, "at the end"),
                      field("attention", &Model::attention, "self-attention"),
                      field("cross", &Model::cross, "attention to the source")};
  }
  bool operator==(const Model&) const = default;
};

struct Train {
  int64_t steps = 1000;
  double lr = 5e-4;
  bool resume = true;
  std::optional<int64_t> patience = 5;
  std::filesystem::path log = "log.jsonl";
  std::vector<std::string> files{"a.gz", "b.gz"};
  std::vector<double> weights{};
  std::vector<int64_t> milestones{};
  std::vector<Attention> phases{};
  std::optional<std::string> note{};

  static constexpr auto fields() {
    return std::tuple{field("steps", &Train::steps, "updates", at_least_zero),
                      field("lr", &Train::lr, "peak learning rate", positive),
                      field("resume", &Train::resume, "go on from the last step"),
                      field("patience", &Train::patience, "epochs without gain", at_least_one),
                      field("log", &Train::log, "file"),
                      field("files", &Train::files, "text"),
                      field("weights", &Train::weights, "of the files", at_least_zero),
                      field("milestones", &Train::milestones, "steps", at_least_one),
                      field("phases", &Train::phases, "one after another"),
                      field("note", &Train::note, "to whom it concerns")};
  }
  bool operator==(const Train&) const = default;
};

/// A small recipe that holds every type of option there is.
struct Recipe {
  uint64_t seed = 1;
  std::string title = "toy";
  std::variant<PostNorm, Admin> outer{};
  Model model{};
  Train train{};

  static constexpr auto fields() {
    return std::tuple{field("seed", &Recipe::seed, "of everything random"),
                      field("title", &Recipe::title, "free text"),
                      field("outer", &Recipe::outer, "a choice at the top"),
                      field("model", &Recipe::model, "what is trained"),
                      field("train", &Recipe::train, "how it is trained")};
  }
  bool operator==(const Recipe&) const = default;
};

}  // namespace ballast::toy

template <>
struct ballast::EnumNames<ballast::toy::Activation> {
  static constexpr std::array<std::pair<std::string_view, toy::Activation>, 2> value{
      {{"relu", toy::Activation::relu}, {"gelu", toy::Activation::gelu}}};
};
