#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/base/suggest.h"
#include "ballast/cli/table.h"
#include "ballast/cli/verbs.h"
#include "ballast/kernels/activation_moments.h"
#include "ballast/layers/activation_kinds.h"
#include "ballast/theory/truncated_normal.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

constexpr const char* truncated = "truncated_normal";

struct Flags {
  std::string name;
  double std = 1;
  std::optional<double> low, high;
  bool json = false;
};

/// A number of a row: its words in JSON and over its column.
struct Quantity {
  const char *key, *title;
  double value;
};

using Quantities = std::vector<Quantity>;

Quantities quantities_of(const ActivationMoments& found) {
  return {{"mean", "E f", found.mean},
          {"second_moment", "E f^2", found.second},
          {"variance", "Var f", found.variance},
          {"second_moment_factor", "1/sqrt(E f^2)", 1 / std::sqrt(found.second)},
          {"variance_factor", "1/sqrt(Var f)", 1 / std::sqrt(found.variance)},
          {"slope_second_moment", "E f'^2", found.slope_second}};
}

Quantities quantities_of(const TruncatedMoments& found, double std, double low, double high) {
  const double root = std::sqrt(found.variance);
  return {{"low", "low", low},
          {"high", "high", high},
          {"mean", "E x", found.mean},
          {"variance", "Var x", found.variance},
          {"std", "sqrt(Var x)", root},
          {"variance_share", "Var x/std^2", found.variance / (std * std)},
          {"std_factor", "std/sqrt(Var x)", std / root},
          {"kept", "P(low<x<high)", found.kept}};
}

struct Named {
  std::string name;
  Quantities quantities;
};

std::string cell(double value) { return fmt::format("{:.13g}", value); }

std::string table_of(const std::vector<Named>& rows) {
  std::vector<Row> cells{{"name"}};
  for (const Quantity& each : rows.front().quantities) cells[0].emplace_back(each.title);
  for (const Named& row : rows) {
    Row& line = cells.emplace_back(Row{row.name});
    for (const Quantity& each : row.quantities) line.push_back(cell(each.value));
  }
  return aligned(cells);
}

std::string json_of(const std::vector<Named>& rows, double std) {
  Json list = Json::array();
  for (const Named& row : rows) {
    Json& json = list.emplace_back(Json{{"name", row.name}});
    for (const Quantity& each : row.quantities) json[each.key] = each.value;
  }
  return Json{{"input_std", std}, {"rows", list}}.dump(2) + '\n';
}

Named truncated_row(const Flags& flags) {
  if (!flags.low && !flags.high) {
    throw RecipeError("moments truncated_normal needs --low, --high or both");
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double low = flags.low.value_or(-infinity), high = flags.high.value_or(infinity);
  const TruncatedMoments found = truncated_normal_moments(0, flags.std, low, high);
  return {truncated, quantities_of(found, flags.std, low, high)};
}

Named activation_row(const std::string& name, double std) {
  const ActivationChoice kind = *ChoiceTraits<ActivationChoice>::make(name);
  return {name, quantities_of(moments_of(form_of(kind), std))};
}

std::vector<Named> rows_of(const Flags& flags) {
  if (flags.name == truncated) return {truncated_row(flags)};
  if (flags.low || flags.high) throw RecipeError("--low and --high go with truncated_normal only");
  std::vector<std::string> names = kind_names<ActivationChoice>();
  std::vector<Named> rows;
  for (const std::string& name : names) {
    if (flags.name.empty() || flags.name == name) rows.push_back(activation_row(name, flags.std));
  }
  if (!rows.empty()) return rows;
  names.emplace_back(truncated);
  throw RecipeError(fmt::format("\"{}\" is no activation and not truncated_normal{}", flags.name,
                                did_you_mean(flags.name, names)));
}

void print_moments(const Flags& flags) {
  // Of a smaller one sigmoid(x) would say little but the rounding of 1/2.
  if (!(flags.std >= 1e-6 && flags.std <= 1e6)) {
    throw RecipeError(fmt::format("--std: found {}, expected 1e-6 to 1e6", flags.std));
  }
  const std::vector<Named> rows = rows_of(flags);
  fmt::print("{}", flags.json ? json_of(rows, flags.std) : table_of(rows));
}

}  // namespace

void add_moments(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "moments", "Moments of activations and of truncated normals, for an input from N(0, std^2)");
  verb->add_option(
      "NAME", flags->name,
      "An activation, or truncated_normal; without it all activations. A gated pair is "
      "f(g) u with g and u independent; its slope is the sum for both.");
  verb->add_option("--std", flags->std, "Standard deviation of the input")->capture_default_str();
  verb->add_option("--low", flags->low, "Lower end of the truncated normal; without it -infinity");
  verb->add_option("--high", flags->high, "Upper end of the truncated normal; without it infinity");
  verb->add_flag("--json", flags->json, "Print JSON");
  verb->callback([flags] { print_moments(*flags); });
}

}  // namespace ballast
