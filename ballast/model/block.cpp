#include "ballast/model/block.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ballast {
namespace {

struct BuiltBranch {
  std::shared_ptr<torch::nn::Module> module;
  std::shared_ptr<Branch> branch;
};

template <class Kind, class Options>
BuiltBranch built(const Options& options) {
  const auto made = std::make_shared<Kind>(options);
  return {made, made};
}

AttentionLayerOptions attention_at(const ModelOptions& options, const ResidualSite& site,
                                   const Standing& standing) {
  AttentionLayerOptions made{
      .d_model = options.d_model,
      .heads = options.heads,
      .key_value_heads = options.key_value_heads,
      .head_width = options.head_width,
      .bias = options.linear_bias,
      .dropout = options.attention_dropout,
      .causal = site.stack == Stack::decoder && site.kind == Sublayer::self_attention,
      .weights = form_of(options.weights),
      .standing = standing,
      .soft_cap = options.attention_soft_cap};
  const QueryKeyForm compared = form_of(options.query_key_norm, options.norm_at(site));
  const ScoreForm scores = form_of(options.scores, made.d_head());
  made.score_scale = compared.score_scale ? compared.score_scale : scores.scale;
  if (compared.norm) {
    // Before those of the scheme, and the first of a point stands.
    auto& own = made.standing.own_norms;
    own.insert(own.begin(), {{Point::query, *compared.norm}, {Point::key, *compared.norm}});
  }
  if (compared.gain) {
    made.standing.factors.push_back({Point::query, trained_scalar(*compared.gain)});
  }
  return made;
}

BuiltBranch built_branch(const ModelOptions& options, const ResidualSite& site,
                         const Standing& standing) {
  const AttentionLayerOptions attention = attention_at(options, site, standing);
  switch (site.kind) {
    case Sublayer::self_attention:
      return built<SelfAttention>(attention);
    case Sublayer::cross_attention:
      return built<CrossAttention>(attention);
    case Sublayer::feed_forward:
      break;
  }
  return built<FeedForward>(FeedForwardOptions{.d_model = options.d_model,
                                               .d_ff = options.d_ff,
                                               .activation = form_of(options.activation),
                                               .bias = options.linear_bias,
                                               .weights = form_of(options.weights),
                                               .dropout = options.activation_dropout,
                                               .standing = standing});
}

}  // namespace

Block::Block(const ModelOptions& options, Stack stack, int layer) {
  const int lanes = stack_form(options, stack).lanes;
  for (const ResidualSite& site : sites_of(options, stack, layer)) {
    const ResidualForm form = form_at(options, site);
    const NormChoice& norm = options.norm_at(site);
    const std::string name(enum_name(site.kind));
    const BuiltBranch built = built_branch(options, site, standing_of(form, norm));
    register_module(name, built.module);
    const Residual* first = connections.empty() ? nullptr : connections.front().residual.get();
    auto residual = std::make_shared<Residual>(ResidualOptions{.form = form,
                                                               .norm = norm,
                                                               .dropout = options.dropout,
                                                               .site = site,
                                                               .lanes = lanes,
                                                               .around = built.module},
                                               first);
    register_module(name + "_residual", residual);
    connections.push_back({built.branch, std::move(residual)});
  }
}

ResidualStream Block::forward(ResidualStream stream, const Surroundings& around) const {
  for (const auto& [branch, residual] : connections) {
    const auto function = [&](const torch::Tensor& h) { return branch->forward(h, around); };
    stream = residual->forward(stream, function, &around.segments);
  }
  return stream;
}

ResidualStream Block::step(ResidualStream stream, std::span<BranchCache> caches,
                           const Reading& reading) const {
  for (size_t i = 0; i < connections.size(); ++i) {
    stream = connections[i].residual->forward(stream, [&](const torch::Tensor& h) {
      return connections[i].branch->step(h, caches[i], reading);
    });
  }
  return stream;
}

const Connection& Block::at(Sublayer kind) const {
  return *std::ranges::find(connections, kind,
                            [](const Connection& each) { return each.residual->site().kind; });
}

}  // namespace ballast
