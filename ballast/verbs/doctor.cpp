#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ballast/base/error.h"
#include "ballast/recipe/examine.h"
#include "ballast/recipe/memory.h"
#include "ballast/recipe/resolve.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const Examination& examination, const std::vector<Finding>& found) {
  Json causes = Json::array(), measured = Json::array();
  for (const Finding& each : found) {
    causes.push_back({{"name", each.name},
                      {"severity", enum_name(each.severity)},
                      {"where", each.evidence.where},
                      {"what", each.evidence.what},
                      {"measured", number(each.evidence.measured)},
                      {"expected", number(each.evidence.expected)},
                      {"reason", each.reason},
                      {"source", each.source},
                      {"remedy", each.remedy}});
  }
  for (const Measurement& each : examination.measurements.all()) {
    Json row = {{"quantity", enum_name(each.quantity)},
                {"where", each.spot.name()},
                {"value", number(each.value)}};
    if (each.expected) row["expected"] = number(*each.expected);
    measured.push_back(row);
  }
  Json all = {{"verdict", enum_name(outlook(found))}, {"findings", causes}};
  if (examination.sharpness) {
    all["sharpness"] = number(examination.sharpness->largest);
    all["largest_stable_lr"] = number(examination.sharpness->largest_rate);
  }
  all["measurements"] = measured;
  return all;
}

void print_finding(const Finding& found) {
  const Evidence& evidence = found.evidence;
  fmt::print("\n{}: {}\n", enum_name(found.severity), found.name);
  fmt::print("  where     {}\n", evidence.where);
  fmt::print("  measured  {:.4g}, expected about {:.4g}: {}\n", evidence.measured,
             evidence.expected, evidence.what);
  fmt::print("  reason    {}{}\n", found.reason,
             found.source.empty() ? "" : fmt::format(" ({})", found.source));
  if (!found.remedy.empty())
    fmt::print("  remedy    --set {}\n", fmt::join(found.remedy, " --set "));
}

void print_measurements(const Examination& examination) {
  fmt::print("\n{:<16} {:<48} {:>12} {:>12}\n", "quantity", "where", "measured", "expected");
  for (const Measurement& each : examination.measurements.all()) {
    fmt::print("{:<16} {:<48} {:>12.4g} {:>12}\n", enum_name(each.quantity), each.spot.name(),
               each.value, each.expected ? fmt::format("{:.4g}", *each.expected) : "");
  }
}

void print_page(const Examination& examination, const std::vector<Finding>& found) {
  fmt::print("verdict: {}\n", enum_name(outlook(found)));
  const auto print = [&](const char* name, Quantity quantity, std::optional<Point> point = {}) {
    const Measurement* least = examination.measurements.smallest(quantity, point);
    const Measurement* most = examination.measurements.largest(quantity, point);
    if (most == nullptr) return;
    fmt::print("  {:<34} {:>10.4g} to {:.4g}\n", name, least->value, most->value);
  };
  print("loss at the start, nats", Quantity::loss);
  print("second moment of the stream", Quantity::second_moment, Point::stream);
  print("gradient at the stream", Quantity::gradient, Point::stream);
  print("deviation of attention's logits", Quantity::logit_deviation);
  print("entropy of attention", Quantity::entropy);
  print("a branch's share of its sum", Quantity::own_share);
  if (examination.sharpness) {
    fmt::print("  {:<34} {:>10.4g}, the recipe's peak {:.4g}\n", "largest stable first rate",
               examination.sharpness->largest_rate, examination.training.peak_lr);
  }
  for (const Finding& each : found) print_finding(each);
  if (found.empty()) fmt::print("nothing found\n");
}

void run_doctor(const DoctorFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  refuse_too_large(recipe, {}, Purpose::use);
  const Tokenizers tokenizers = make_tokenizers(recipe, {{}, print_remark});
  const auto corpus = std::make_shared<EncodedCorpus>(
      encode_files(recipe, training_files(recipe.data), tokenizers));
  refuse_empty(recipe, "data.train", {recipe.data.train, {}}, *corpus);
  const PlannedModel planned = build_model(recipe, sizes_of(recipe, tokenizers));
  planned.model->to(device);
  calibrate_on(recipe, *planned.model, corpus);
  const Examination examination = examine(recipe, planned, corpus, tokenizers);
  const std::vector<Finding> found = findings(examination);
  if (flags.json) {
    fmt::print("{}\n", json_of(examination, found).dump(2));
  } else {
    print_page(examination, found);
    if (flags.all) print_measurements(examination);
  }
  if (outlook(found) == Outlook::will_diverge) {
    throw Stopped(fmt::format("expected not to train: {}", found.front().name));
  }
}

}  // namespace

void doctor(const DoctorFlags& flags) {
  at_boundary(lower_for_training, [&] { run_doctor(flags); });
}

}  // namespace ballast::verbs
