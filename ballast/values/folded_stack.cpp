#include "ballast/values/folded_stack.h"

#include <torch/utils.h>

#include <utility>
#include <variant>

#include "ballast/values/foldable.h"

namespace ballast {
namespace {

std::vector<Scale> scales_of(const BlockStack& stack) {
  std::vector<Sum<Scale>> sums;
  for (const Connection* each : connections_of(stack)) {
    const Residual& residual = *each->residual;
    Scale shortcut = wide(residual.acting_coefficients().shortcut);
    const bool is_normed = keeps_norm(residual, Point::stream);
    const Affine stream = map_at(residual, Point::stream);
    if (!is_normed && stream.scale.defined()) shortcut = shortcut * stream.scale;
    sums.push_back({shortcut, is_normed});
  }
  return gauges(sums, number(1));
}

/// The norm, for rows that come `scale` times as large.
NormChoice for_scaled_rows(NormChoice choice, const Scale& scale) {
  const double factor = scale.item<double>();
  if (factor <= 0) throw unfoldable("a number below 0 cannot pass a norm");
  const bool in_root = form_of(choice).placement == EpsPlacement::inside_root;
  std::visit(
      [&](auto& norm) {
        if constexpr (requires { norm.eps; }) norm.eps *= in_root ? factor * factor : factor;
      },
      choice);
  return choice;
}

}  // namespace

bool is_one(const Scale& scale) { return (scale == 1).all().item<bool>(); }

RecipeError unfoldable(const std::string& reason) {
  return RecipeError("the model cannot be folded: " + reason);
}

Scale one_over(const Scale& scale) {
  if ((scale == 0).any().item<bool>()) {
    throw unfoldable("a coefficient by which it would have to be divided is 0");
  }
  return 1 / scale;
}

std::vector<const Connection*> connections_of(const BlockStack& stack) {
  std::vector<const Connection*> all;
  for (const auto& block : stack.blocks) {
    for (const Connection& each : block->connections) all.push_back(&each);
  }
  return all;
}

FoldedStack::FoldedStack(const BlockStack& given) : stack(given), scales(scales_of(given)) {
  if (!keeps_norm(stack, Point::stack)) leaving = map_at(stack, Point::stack);
}

const Norm* FoldedStack::last_norm() const {
  if (keeps_norm(stack, Point::stack)) return stack.norm_at(Point::stack).get();
  const Residual& last = *connections_of(stack).back()->residual;
  const bool is_last = !stack.norm_at(Point::stack) && keeps_norm(last, Point::stream);
  return is_last ? last.norm_at(Point::stream).get() : nullptr;
}

void name_norms(std::span<const FoldedStack* const> stacks, const ModelOptions& before,
                ModelOptions& plain) {
  for (const FoldedStack* each : stacks) {
    const auto connections = connections_of(each->stack);
    for (size_t i = 0; i < connections.size(); ++i) {
      const Residual& residual = *connections[i]->residual;
      NormChoice norm = before.norm_at(residual.site());
      if (keeps_norm(residual, Point::read)) norm = for_scaled_rows(norm, each->scales[i]);
      if (norm == plain.norm_at(residual.site())) continue;
      SiteRule rule = rule_for(residual.site());
      rule.norm = norm;
      plain.sites.push_back(std::move(rule));
    }
  }
}

}  // namespace ballast
