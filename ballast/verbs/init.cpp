#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/recipe/assemble.h"
#include "ballast/recipe/coordinate_check.h"
#include "ballast/recipe/memory.h"
#include "ballast/recipe/resolve.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/coordinate_report.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

nlohmann::ordered_json json_of(const Profile& profile, const PlannedModel& planned) {
  nlohmann::ordered_json omega;
  for (const std::string& stack : enum_names<Stack>()) omega[stack] = nlohmann::json::array();
  nlohmann::ordered_json sites = nlohmann::json::array();
  for (const ProfiledSite& each : profile) {
    omega[std::string(enum_name(each.site.stack))].push_back(each.omega);
    sites.push_back({{"stack", enum_name(each.site.stack)},
                     {"index", each.site.index + 1},
                     {"kind", enum_name(each.site.kind)},
                     {"omega", each.omega},
                     {"shortcut_variance", each.shortcut_variance},
                     {"branch_variance", each.branch_variance}});
  }
  nlohmann::ordered_json parameters = nlohmann::json::array();
  int64_t total = 0;
  for (const PlannedParameter& each : planned.plan.parameters) {
    total += each.entry.tensor.numel();
    parameters.push_back({{"name", each.entry.name},
                          {"shape", each.entry.tensor.sizes().vec()},
                          {"std", each.draw.std},
                          {"mean", each.draw.mean},
                          {"multiplier", each.scaling.multiplier},
                          {"lr_scale", each.scaling.lr_scale},
                          {"decay_scale", each.scaling.decay_scale},
                          {"epsilon_scale", each.scaling.epsilon_scale},
                          {"gain", each.entry.facts.gain},
                          {"decays", each.entry.facts.decays()}});
  }
  nlohmann::ordered_json factors = nlohmann::json::array();
  for (const PlannedFactor& each : planned.plan.factors) {
    factors.push_back({{"module", each.entry.module},
                       {"point", enum_name(each.entry.facts.point)},
                       {"value", each.value}});
  }
  return {{"omega", omega},
          {"profile", sites},
          {"parameter_count", total},
          {"parameters", parameters},
          {"factors", factors}};
}

void print_table(const Profile& profile) {
  fmt::print("{:<8} {:>4} {:<16} {:>10} {:>10} {:>10}\n", "stack", "i", "branch", "omega", "Var x",
             "Var f");
  for (const ProfiledSite& each : profile) {
    fmt::print("{:<8} {:>4} {:<16} {:>10.5f} {:>10.5f} {:>10.5f}\n", enum_name(each.site.stack),
               each.site.index + 1, enum_name(each.site.kind), each.omega, each.shortcut_variance,
               each.branch_variance);
  }
}

CoordinateCheck check_of(const InitFlags& flags) {
  CoordinateCheck check{.depths = flags.depths, .steps = flags.steps};
  if (!flags.widths.empty() || !flags.depths.empty()) check.widths = flags.widths;
  return check;
}

void run_init(const InitFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  refuse_too_large(recipe, {}, Purpose::use);
  const Tokenizers tokenizers = make_tokenizers(recipe, {{}, print_remark});
  const auto corpus = std::make_shared<EncodedCorpus>(
      encode_files(recipe, training_files(recipe.data), tokenizers));
  refuse_empty(recipe, "data.train", {recipe.data.train, {}}, *corpus);
  if (flags.coordinate_check) {
    const CoordinateCheck check = check_of(flags);
    const CoordinateReports reports =
        coordinate_check(recipe, sizes_of(recipe, tokenizers), corpus, check, device);
    print_coordinates(recipe, check, reports, flags.json);
    return;
  }
  const PlannedModel planned = build_model(recipe, sizes_of(recipe, tokenizers));
  planned.model->to(device);
  const Profile profile = calibrate_on(recipe, *planned.model, corpus);
  if (flags.json) {
    fmt::print("{}\n", json_of(profile, planned).dump(2));
  } else {
    print_table(profile);
  }
}

}  // namespace

void init(const InitFlags& flags) {
  at_boundary(lower_for_training, [&] { run_init(flags); });
}

}  // namespace ballast::verbs
