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

/// "4 lanes", and whether they are copies or parts.
std::string lanes_of(const StackForm& form) {
  return fmt::format("{} lane{}{}", form.lanes, form.lanes == 1 ? "" : "s",
                     form.parts ? " that are parts of a row" : "");
}

/// Connections that their schemes cannot make, or not together.
void check_connections(const ModelOptions& options, const Sites& sites,
                       std::vector<Contradiction>& found) {
  if (sites.empty()) return;
  const Stack stack = sites.front().stack;
  const StackForm form = stack_form(options, stack);
  const int lanes = form.lanes;
  if (form.parts && options.d_model % lanes != 0) {
    found.push_back({"model.residual", fmt::format("the lanes are {} parts of a row, which do not "
                                                   "divide model.d_model = {}",
                                                   lanes, options.d_model)});
    return;
  }
  for (const ResidualSite& site : sites) {
    const ResidualChoice& scheme = options.residual_at(site);
    const std::string_view name = info_of(scheme).name;
    if (const StackForm own = stack_of(scheme); own.lanes != lanes || own.parts != form.parts) {
      found.push_back(
          {"model.sites", fmt::format("{} has a stream of {}, and the {} ends with {}; "
                                      "schemes of one stack need the same",
                                      name, lanes_of(own), enum_name(stack), lanes_of(form))});
      return;
    }
    if (const std::string refusal = refusal_of(form_at(options, site), lanes); !refusal.empty()) {
      found.push_back({"model.residual", fmt::format("{}: {}", name, refusal)});
      return;
    }
  }
}

/// Why a norm cannot stand in a stack; empty where it can.
std::string refusal_of(const NormChoice& choice, const RowShape& shape, bool is_causal) {
  const NormForm form = form_of(choice);
  const std::string_view name = info_of(choice).name;
  if (is_causal && !form.is_row_wise()) {
    return fmt::format(
        "{} reads other tokens besides its own, so that in the causal decoder a "
        "later one would reach an earlier one; let model.norm be of single tokens "
        "and name {} in model.sites for the encoder",
        name, name);
  }
  if (const int64_t groups = form.groups_of(shape); shape.width % groups != 0) {
    return fmt::format("{} has {} groups, which do not divide the {} features", name, groups,
                       shape.width);
  }
  return {};
}

/// Norms that cannot stand where they would.
void check_norms(const ModelOptions& options, const Sites& sites,
                 std::vector<Contradiction>& found) {
  if (sites.empty()) return;
  const Stack stack = sites.front().stack;
  std::vector<const NormChoice*> standing;
  if (stack_form(options, stack).norms != Points{}) standing.push_back(&options.norm);
  for (const ResidualSite& site : sites) {
    const ResidualForm form = form_at(options, site);
    if (form.norms != Points{} || form.head_norms != Points{}) {
      standing.push_back(&options.norm_at(site));
    }
  }
  for (const NormChoice* each : standing) {
    const std::string refusal =
        refusal_of(*each, {options.d_model, options.heads}, stack == Stack::decoder);
    if (refusal.empty()) continue;
    found.push_back({"model.norm", refusal});
    return;
  }
  for (const ResidualSite& site : sites) {
    if (site.kind == Sublayer::feed_forward) continue;  // it compares nothing
    const auto compared = form_of(options.query_key_norm, options.norm_at(site)).norm;
    if (!compared || compared->is_row_wise()) continue;
    found.push_back({"model.query_key_norm",
                     "model.query_key_norm has a norm that reads other tokens besides its own; "
                     "queries and keys need one of single tokens"});
    return;
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

/// Half of the buckets of one direction are single distances; the others go on from there.
void check_buckets(const ModelOptions& options, std::vector<Contradiction>& found) {
  const PositionForm form = form_of(options.positions);
  if (form.distance != DistanceRule::buckets || form.bucket_reach > form.buckets / 2) return;
  found.push_back(
      {"model.positions",
       fmt::format("relative_buckets with buckets = {} and max_distance = {}, expected a "
                   "max_distance above {}, where the single distances end",
                   form.buckets, form.bucket_reach, form.buckets / 2)});
}

void check_attention(const ModelOptions& options, std::vector<Contradiction>& found) {
  if (const int64_t shared = options.key_value_heads.value_or(1); options.heads % shared != 0) {
    found.push_back({"model.key_value_heads",
                     fmt::format("model.key_value_heads = {} does not divide model.heads = {}",
                                 shared, options.heads)});
  }
  if (form_of(options.scores, 1).scale &&
      form_of(options.query_key_norm, options.norm).score_scale) {
    found.push_back(
        {"model.scores",
         fmt::format("model.query_key_norm = \"{}\" has a factor of its own for the "
                     "logits of attention, and model.scores = \"{}\" names another; "
                     "leave out one of them",
                     info_of(options.query_key_norm).name, info_of(options.scores).name)});
  }
}

}  // namespace

std::vector<Contradiction> contradictions(const ModelOptions& options) {
  std::vector<Contradiction> found;
  if (!options.head_width && options.d_model % options.heads != 0) {
    found.push_back(
        {"model.heads", fmt::format("model.heads = {} does not divide model.d_model = {}",
                                    options.heads, options.d_model)});
  }
  check_attention(options, found);
  if (options.d_model % 2 != 0) {
    found.push_back(
        {"model.d_model",
         fmt::format("model.d_model = {} is odd; positions need an even width", options.d_model)});
  }
  if (form_of(options.positions).rotary_base > 0 && options.d_head() % 2 != 0) {
    found.push_back(
        {"model.positions",
         fmt::format("rotary positions turn pairs of features, and heads of "
                     "{} = {} have an odd number",
                     options.head_width ? "model.head_width" : "model.d_model / model.heads",
                     options.d_head())});
  }
  if (options.output_transform && !form_of(options.norm).is_row_wise()) {
    found.push_back({"model.output_transform",
                     fmt::format("model.output_transform has a norm of the rows that are "
                                 "predicted, and {} reads other tokens besides; let model.norm be "
                                 "of single tokens and name {} in model.sites",
                                 info_of(options.norm).name, info_of(options.norm).name)});
  }
  check_buckets(options, found);
  if (options.ramp_by_layer && options.ramp == 0) {
    found.push_back({"model.ramp_by_layer", "model.ramp_by_layer has no model.ramp to lengthen"});
  }
  const Sites encoder = all_sites(options, Stack::encoder);
  const Sites decoder = all_sites(options, Stack::decoder);
  check_connections(options, encoder, found);
  check_connections(options, decoder, found);
  check_norms(options, encoder, found);
  check_norms(options, decoder, found);
  check_rules(options, encoder, decoder, found);
  return found;
}

}  // namespace ballast
