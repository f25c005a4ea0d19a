#include "ballast/values/foldable.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr std::array of_branch{Point::query, Point::key,  Point::value,
                               Point::heads, Point::gate, Point::hidden};

/// Whether the gain and bias of a norm can take a scale on.
bool admits(const NormForm& norm, Reach reach) {
  if (norm.gain == GainExtent::none) return reach == Reach::none;
  return norm.gain == GainExtent::features || reach != Reach::features;
}

Reach factors_at(const ResidualForm& form, Point point) {
  Reach reach = Reach::none;
  for (const PointFactor& each : form.factors) {
    if (each.point == point) reach = reach * reach_of(each.factor);
  }
  return reach;
}

/// One connection, its norm, and the reach of the scales before and behind it.
struct Place {
  const ModelOptions& options;
  ResidualSite site;
  ResidualForm form = form_at(options, site);
  NormForm norm = form_of(options.norm_at(site));
  Reach before = Reach::none, behind = Reach::none;

  bool keeps_norm(Point point) const { return form.norms.has(point) && !is_fixed(norm); }

  Sum<Reach> sum() const {
    const bool is_scaled = form.norms.has(Point::stream) && is_fixed(norm);
    const Reach scaled = is_scaled ? Reach::features : factors_at(form, Point::stream);
    if (keeps_norm(Point::stream)) return {reach_of(form.shortcut), true};
    return {reach_of(form.shortcut) * scaled};
  }

  /// What the branch's last norm or matrix has to take on.
  Reach branch_scale() const {
    return reach_of(form.branch) * factors_at(form, Point::branch) *
           (keeps_norm(Point::stream) ? Reach::none : behind);
  }
};

std::string refusal_of_coefficients(const ResidualForm& form) {
  for (const Coefficient* each : {&form.shortcut, &form.branch, &form.input, &form.read}) {
    if (each->gate) return "a coefficient follows the stream";
  }
  if (reach_of(form.read) != Reach::none) return "the stream is scaled before its norm";
  return {};
}

std::string refusal_at(const Place& place, Point point, Reach scale) {
  const bool needs_bias = place.form.shifts.has(point);
  if (!place.keeps_norm(point)) return {};
  if (!admits(place.norm, scale)) {
    return fmt::format("the norm at point \"{}\" has no gain that could take a factor on",
                       enum_name(point));
  }
  if (needs_bias && !place.norm.bias) {
    return fmt::format("the norm at point \"{}\" has no bias that could take a shift on",
                       enum_name(point));
  }
  return {};
}

/// Norms of queries and keys stay as they are, so a scheme may put nothing else there.
std::string refusal_of_comparison(const Place& place) {
  if (place.site.kind == Sublayer::feed_forward) return {};
  const QueryKeyForm compared =
      form_of(place.options.query_key_norm, place.options.norm_at(place.site));
  if (!compared.norm && !compared.gain && !compared.score_scale) return {};
  for (const Point point : {Point::query, Point::key}) {
    if (place.form.norms.has(point) || place.form.shifts.has(point) ||
        factors_at(place.form, point) != Reach::none) {
      return "the scheme and model.query_key_norm both stand at the queries and keys";
    }
  }
  return {};
}

std::string refusal_of(const Place& place) {
  if (std::string text = refusal_of_coefficients(place.form); !text.empty()) return text;
  if (place.keeps_norm(Point::read) && place.before == Reach::features) {
    return "a branch reads the stream through a norm, which a number per feature cannot pass";
  }
  if (place.form.head_norms != Points{} && is_fixed(place.norm)) {
    return "a norm of each head has running statistics";
  }
  for (const Point point : of_branch) {
    std::string text = refusal_at(place, point, factors_at(place.form, point));
    if (!text.empty()) return text;
  }
  if (std::string text = refusal_at(place, Point::branch, place.branch_scale()); !text.empty()) {
    return text;
  }
  const Reach behind = place.behind * factors_at(place.form, Point::stream);
  if (std::string text = refusal_at(place, Point::stream, behind); !text.empty()) return text;
  return refusal_of_comparison(place);
}

std::vector<Place> places_of(const ModelOptions& options, Stack stack) {
  std::vector<Place> places;
  for (int64_t layer = 0; layer < options.layers(stack); ++layer) {
    for (const ResidualSite& site : sites_of(options, stack, layer)) {
      places.push_back({options, site});
    }
  }
  std::vector<Sum<Reach>> sums;
  for (const Place& each : places) sums.push_back(each.sum());
  const std::vector<Reach> scales = gauges(sums, Reach::none);
  for (size_t i = 0; i < places.size(); ++i) {
    places[i].before = scales[i];
    places[i].behind = scales[i + 1];
  }
  return places;
}

std::string refusal_of_stack(const ModelOptions& options, Stack stack) {
  const std::vector<Place> places = places_of(options, stack);
  if (places.empty()) return {};
  const StackForm form = stack_form(options, stack);
  if (form.lanes > 1) return fmt::format("its stream has {} lanes", form.lanes);
  for (const Place& each : places) {
    if (std::string text = refusal_of(each); !text.empty()) return text;
  }
  const NormForm norm = form_of(options.norm);
  if (form.norms.has(Point::embedding)) {
    if (is_fixed(norm)) return "a norm with running statistics stands behind the embedding";
    if (!admits(norm, places.front().before)) {
      return "the norm behind the embedding has no gain that could take a factor on";
    }
  }
  return {};
}

Points without_fixed(const Points& norms, const NormForm& norm) {
  return is_fixed(norm) ? Points{} : norms;
}

/// What stays of a connection: its norms.
ResidualForm plain_form(const Place& place) {
  return {.norms = without_fixed(place.form.norms, place.norm),
          .head_norms = place.form.head_norms};
}

/// Gains are of the weights at their start, so a scheme with others computes the same.
ResidualForm without_gains(ResidualForm form) {
  form.gains = {};
  return form;
}

/// The scheme that is nothing but what stays: one of the list, or the connection's own.
std::optional<ResidualChoice> plain_scheme(const Place& place,
                                           const std::optional<StackForm>& around) {
  const auto is_plain = [&](const ResidualChoice& choice) {
    return without_gains(form_of(choice, place.site)) == plain_form(place) &&
           (!around || stack_form(place.options, choice) == *around);
  };
  for (const std::string& name : kind_names<ResidualChoice>()) {
    const ResidualChoice choice = *ChoiceTraits<ResidualChoice>::make(name);
    if (is_plain(choice)) return choice;
  }
  const ResidualChoice& own = place.options.residual_at(place.site);
  return is_plain(own) ? std::optional(own) : std::nullopt;
}

/// Names the plain schemes of a stack; returns why there is none.
std::string name_schemes(const ModelOptions& options, Stack stack, ModelOptions& plain) {
  const std::vector<Place> places = places_of(options, stack);
  if (places.empty()) return {};
  StackForm around = stack_form(options, stack);
  around.norms = without_fixed(around.norms, form_of(options.norm));
  const auto common = plain_scheme(places.back(), around);
  if (!common) return "no scheme has just the norms that would stay";
  (stack == Stack::encoder ? plain.encoder_residual : plain.decoder_residual) = common;
  for (const Place& each : places) {
    if (without_gains(form_of(*common, each.site)) == plain_form(each)) continue;
    SiteRule rule = rule_for(each.site);
    rule.residual = plain_scheme(each, {});
    if (!rule.residual) return "no scheme has just the norms that would stay";
    plain.sites.push_back(std::move(rule));
  }
  return {};
}

/// A norm behind the activation would see rows of another size, so there it stays as it is.
void name_activation(const ModelOptions& options, ModelOptions& plain) {
  if (options.output_transform) return;
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    for (const Place& each : places_of(options, stack)) {
      if (each.keeps_norm(Point::hidden)) return;
    }
  }
  std::visit(
      [](auto& kind) {
        if constexpr (requires { kind.normalize; }) kind.normalize = {};
      },
      plain.activation);
}

/// Whether something that is folded adds a number, which a matrix without a bias cannot take on.
bool has_shifts(const ModelOptions& options) {
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    for (const Place& each : places_of(options, stack)) {
      if (each.form.shifts != Points{} || (each.form.norms != Points{} && is_fixed(each.norm))) {
        return true;
      }
    }
  }
  return form_of(options.activation).shift != 0;
}

std::string refusal_and_plain(const ModelOptions& options, ModelOptions& plain) {
  plain = options;
  plain.ramp = 0;
  plain.ramp_by_layer = false;
  plain.weights = {};
  name_activation(options, plain);
  plain.linear_bias = options.linear_bias || has_shifts(options);
  plain.sites.clear();
  for (SiteRule rule : options.sites) {
    rule.residual.reset();
    if (rule.norm) plain.sites.push_back(std::move(rule));
  }
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    std::string text = refusal_of_stack(options, stack);
    if (text.empty()) text = name_schemes(options, stack, plain);
    if (!text.empty()) return fmt::format("in the {}, {}", enum_name(stack), text);
  }
  const bool ends_in_decoder = options.shape().target == Stack::decoder;
  plain.residual = *std::exchange(ends_in_decoder ? plain.decoder_residual : plain.encoder_residual,
                                  std::nullopt);
  if (plain.encoder_residual == plain.residual) plain.encoder_residual.reset();
  return {};
}

}  // namespace

Reach reach_of(const Coefficient& coefficient) {
  if (coefficient.trained || coefficient.profiled) {
    return coefficient.extent == Extent::one ? Reach::one : Reach::features;
  }
  const bool is_one = coefficient.start == Grid(1) && coefficient.ramp_steps == 0;
  return is_one ? Reach::none : Reach::one;
}

SiteRule rule_for(const ResidualSite& site) {
  const double layers = site.stack == Stack::encoder ? site.encoder_layers : site.decoder_layers;
  return {.stack = site.stack,
          .sublayer = site.kind,
          .from = site.layer / layers,
          .to = (site.layer + 1) / layers};
}

std::string refusal_to_fold(const ModelOptions& options) {
  ModelOptions plain;
  return refusal_and_plain(options, plain);
}

ModelOptions plain_options(const ModelOptions& options) {
  ModelOptions plain;
  const std::string text = refusal_and_plain(options, plain);
  if (!text.empty()) throw RecipeError("the model cannot be folded: " + text);
  return plain;
}

}  // namespace ballast
