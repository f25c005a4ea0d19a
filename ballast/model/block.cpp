#include "ballast/model/block.h"

namespace ballast {
namespace {

ResidualSite first_site(const ModelOptions& options, const BlockPlace& place) {
  const int per_block = Block::connections(place.cross_attention);
  const bool encodes = options.kind == ModelKind::seq2seq;
  const int encoder = encodes ? static_cast<int>(options.encoder_layers) : 0;
  const int decoder = static_cast<int>(options.decoder_layers);
  const int layers = place.stack == Stack::encoder ? encoder : decoder;
  return {.stack = place.stack,
          .kind = Sublayer::self_attention,
          .index = place.layer * per_block,
          .count = layers * per_block,
          .layer = place.layer,
          .encoder_layers = encoder,
          .decoder_layers = decoder,
          .d_model = options.d_model};
}

ResidualSite next_site(ResidualSite site, Sublayer kind) {
  ++site.index;
  site.kind = kind;
  return site;
}

AttentionLayerOptions attention_options(const ModelOptions& options, const ResidualSite& site) {
  const bool causal = site.stack == Stack::decoder && site.kind == Sublayer::self_attention;
  return {options.d_model, options.heads, options.attention_dropout, causal, site};
}

}  // namespace

Block::Block(const ModelOptions& options, const BlockPlace& place) {
  ResidualSite site = first_site(options, place);
  build_self_attention(options, site);
  if (place.cross_attention) {
    site = next_site(site, Sublayer::cross_attention);
    build_cross_attention(options, site);
  }
  build_feed_forward(options, next_site(site, Sublayer::feed_forward));
}

torch::Tensor Block::forward(const torch::Tensor& x, const Segments& segments,
                             const Memory* memory) const {
  torch::Tensor y = self_attention_residual->forward(
      x, [&](const torch::Tensor& h) { return self_attention->forward(h, segments); });
  if (cross_attention) {
    // Behind a node of its own, so that a block's gradients of the memory are one summand to the
    // encoder: then their sum has the same order, and the same bits, when the block is recomputed.
    const KeyValue projected = cross_attention->project({memory->rows.alias(), memory->bf16});
    y = cross_attention_residual->forward(y, [&](const torch::Tensor& h) {
      return cross_attention->attend(h, segments, projected, memory->segments);
    });
  }
  return feed_forward_residual->forward(
      y, [&](const torch::Tensor& h) { return feed_forward->forward(h); });
}

torch::Tensor Block::step(const torch::Tensor& x, BlockCache& cache, const Reading& reading) const {
  torch::Tensor y = self_attention_residual->forward(x, [&](const torch::Tensor& h) {
    return self_attention->step(h, cache.self, reading.lineage.rows());
  });
  if (cross_attention) {
    y = cross_attention_residual->forward(y, [&](const torch::Tensor& h) {
      return cross_attention->attend(h, reading.readers, cache.cross, reading.sentences);
    });
  }
  return feed_forward_residual->forward(
      y, [&](const torch::Tensor& h) { return feed_forward->forward(h); });
}

void Block::build_self_attention(const ModelOptions& options, const ResidualSite& site) {
  self_attention = register_module("self_attention",
                                   std::make_shared<Attention>(attention_options(options, site)));
  self_attention_residual = build_residual("self_attention_residual", options, site);
}

void Block::build_cross_attention(const ModelOptions& options, const ResidualSite& site) {
  cross_attention = register_module("cross_attention",
                                    std::make_shared<Attention>(attention_options(options, site)));
  cross_attention_residual = build_residual("cross_attention_residual", options, site);
}

void Block::build_feed_forward(const ModelOptions& options, const ResidualSite& site) {
  feed_forward = register_module(
      "feed_forward",
      std::make_shared<FeedForward>(FeedForwardOptions{
          options.d_model, options.d_ff, options.activation, options.activation_dropout, site}));
  feed_forward_residual = build_residual("feed_forward_residual", options, site);
}

std::shared_ptr<Residual> Block::build_residual(const std::string& name,
                                                const ModelOptions& options,
                                                const ResidualSite& site) {
  const ResidualForm form = form_of(options.residual_of(site.stack), site);
  auto residual = register_module(
      name, std::make_shared<Residual>(ResidualOptions{form, options.norm, options.dropout, site}));
  if (form.branch.shared_in_layer && residual != self_attention_residual &&
      self_attention_residual) {
    residual->share_branch_coefficient(*self_attention_residual);
  }
  return residual;
}

}  // namespace ballast
