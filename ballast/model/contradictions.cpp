#include "ballast/model/contradictions.h"

#include <fmt/format.h>

#include <algorithm>

namespace ballast {
namespace {

constexpr int64_t most_layers = 10'000;  // more are refused for their number alone

using Sites = std::vector<ResidualSite>;

/// Every connection of a stack, in forward order.
Sites all_sites(const ModelOptions& options, Stack stack) {
  Sites sites;
  for (int64_t layer = 0; layer < std::min(options.layers(stack), most_layers); ++layer) {
    const Sites block = sites_of(options, stack, layer);
    sites.insert(sites.end(), block.begin(), block.end());
  }
  return sites;
}

/// Connections that their schemes cannot make, or not together.
void check_connections(const ModelOptions& options, const Sites& sites,
                       std::vector<Contradiction>& found) {
  if (sites.empty()) return;
  const Stack stack = sites.front().stack;
  const int lanes = stack_form(options, stack).lanes;
  for (const ResidualSite& site : sites) {
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

void check_rules(const ModelOptions& options, const Sites& encoder, const Sites& decoder,
                 std::vector<Contradiction>& found) {
  for (size_t i = 0; i < options.sites.size(); ++i) {
    const SiteRule& rule = options.sites[i];
    const auto serves = [&](const ResidualSite& site) { return rule.serves(site); };
    if (std::ranges::none_of(encoder, serves) && std::ranges::none_of(decoder, serves)) {
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
  const Sites encoder = all_sites(options, Stack::encoder);
  const Sites decoder = all_sites(options, Stack::decoder);
  check_connections(options, encoder, found);
  check_connections(options, decoder, found);
  check_rules(options, encoder, decoder, found);
  return found;
}

}  // namespace ballast
