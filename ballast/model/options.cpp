#include "ballast/model/options.h"

namespace ballast {

std::vector<ResidualSite> sites_of(const ModelOptions& options, Stack stack, int64_t layer) {
  const std::span<const Sublayer> kinds = options.shape().sublayers(stack);
  const int count = static_cast<int>(kinds.size());
  std::vector<ResidualSite> sites;
  for (int i = 0; i < count; ++i) {
    sites.push_back({.stack = stack,
                     .kind = kinds[i],
                     .index = static_cast<int>(layer) * count + i,
                     .count = static_cast<int>(options.layers(stack)) * count,
                     .layer = static_cast<int>(layer),
                     .encoder_layers = static_cast<int>(options.layers(Stack::encoder)),
                     .decoder_layers = static_cast<int>(options.layers(Stack::decoder)),
                     .d_model = options.d_model});
  }
  return sites;
}

ResidualForm form_at(const ModelOptions& options, const ResidualSite& site) {
  ResidualForm form = form_of(options.residual_at(site), site);
  if (options.ramp > 0) {
    form.branch.ramp_steps = ramp_steps(options.ramp, options.ramp_by_layer, site);
  }
  return form;
}

StackForm stack_form(const ModelOptions& options, Stack stack) {
  return stack_form(
      options, options.residual_at(sites_of(options, stack, options.layers(stack) - 1).back()));
}

StackForm stack_form(const ModelOptions& options, const ResidualChoice& scheme) {
  StackForm form = stack_of(scheme);
  if (options.embedding_norm) form.norms.insert(Point::embedding);
  return form;
}

}  // namespace ballast
