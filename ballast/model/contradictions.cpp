#include "ballast/model/contradictions.h"

#include <fmt/format.h>

#include <algorithm>

namespace ballast {
namespace {

constexpr int64_t most_layers = 10'000;  // more are refused for their number alone

/// Every connection of a stack, in forward order.
std::vector<ResidualSite> all_sites(const ModelOptions& options, Stack stack) {
  std::vector<ResidualSite> sites;
  for (int64_t layer = 0; layer < std::min(options.layers(stack), most_layers); ++layer) {
    const auto block = sites_of(options, stack, layer);
    sites.insert(sites.end(), block.begin(), block.end());
  }
  return sites;
}

/// Connections that their schemes cannot make, or not together.
void check_connections(const ModelOptions& options, Stack stack,
                       std::vector<Contradiction>& found) {
  if (options.layers(stack) == 0) return;
  const int lanes = stack_form(options, stack).lanes;
  for (const ResidualSite& site : all_sites(options, stack)) {
    const ResidualChoice& scheme = options.residual_at(site);
    const std::string_view name = info_of(scheme).name;
    if (const int own = stack_of(scheme).lanes; own != lanes) {
      found.push_back(
          {"model.sites", fmt::format("{} has a stream of {} lanes, and the {} ends with {}; "
                                      "schemes of one stack need as many",
                                      name, own, enum_name(stack), lanes)});
      return;
    }
    if (const std::string refusal = refusal_of(form_at(options, site), lanes); !refusal.empty()) {
      found.push_back({"model.residual", fmt::format("{}: {}", name, refusal)});
      return;
    }
  }
}

void check_rules(const ModelOptions& options, std::vector<Contradiction>& found) {
  for (size_t i = 0; i < options.sites.size(); ++i) {
    const SiteRule& rule = options.sites[i];
    bool serves = false;
    for (const Stack stack : {Stack::encoder, Stack::decoder}) {
      for (const ResidualSite& site : all_sites(options, stack)) serves |= rule.serves(site);
    }
    if (!serves) {
      found.push_back({"model.sites", fmt::format("rule {} of model.sites fits no connection of "
                                                  "this model",
                                                  i + 1)});
    } else if (!rule.residual && !rule.norm) {
      found.push_back({"model.sites", fmt::format("rule {} of model.sites says neither a residual "
                                                  "nor a norm",
                                                  i + 1)});
    }
  }
}

}  // namespace

std::vector<Contradiction> contradictions(const ModelOptions& options) {
  std::vector<Contradiction> found;
  if (options.d_model % options.heads != 0) {
    found.push_back(
        {"model.heads", fmt::format("model.heads = {} does not divide model.d_model = {}",
                                    options.heads, options.d_model)});
  }
  if (options.d_model % 2 != 0) {
    found.push_back(
        {"model.d_model",
         fmt::format("model.d_model = {} is odd; positions need an even width", options.d_model)});
  }
  if (options.ramp_by_layer && options.ramp == 0) {
    found.push_back({"model.ramp_by_layer", "model.ramp_by_layer has no model.ramp to lengthen"});
  }
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    check_connections(options, stack, found);
  }
  check_rules(options, found);
  return found;
}

}  // namespace ballast
