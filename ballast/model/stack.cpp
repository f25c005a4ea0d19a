#include "ballast/model/stack.h"

#include <fmt/format.h>

namespace ballast {

BlockStack::BlockStack(const ModelOptions& options, Stack stack, bool cross_attention) {
  const auto layers =
      static_cast<int>(stack == Stack::encoder ? options.encoder_layers : options.decoder_layers);
  auto list = std::make_shared<torch::nn::Module>();
  for (int layer = 0; layer < layers; ++layer) {
    blocks.push_back(list->register_module(
        fmt::format("{}", layer),
        std::make_shared<Block>(options, BlockPlace{stack, layer, cross_attention})));
  }
  register_module("layers", list);
  if (!blocks.empty() && blocks.back()->feed_forward_residual->form().final_norm) {
    final_norm =
        register_module("final_norm", std::make_shared<Norm>(options.norm, options.d_model));
  }
}

torch::Tensor BlockStack::forward(const torch::Tensor& x, const Segments& segments,
                                  const Memory* memory) const {
  torch::Tensor y = x;
  for (const auto& block : blocks) y = block->forward(y, segments, memory);
  return finished(y);
}

torch::Tensor BlockStack::step(const torch::Tensor& x, std::vector<BlockCache>& caches,
                               const Segments& readers, const Segments& memory) const {
  torch::Tensor y = x;
  for (size_t i = 0; i < blocks.size(); ++i) y = blocks[i]->step(y, caches[i], readers, memory);
  return finished(y);
}

std::vector<BlockCache> BlockStack::caches(const Memory& memory) const {
  std::vector<BlockCache> made(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i]->cross_attention) {
      made[i].cross = blocks[i]->cross_attention->project(memory.input());
    }
  }
  return made;
}

torch::Tensor BlockStack::finished(const torch::Tensor& x) const {
  return final_norm ? final_norm->forward(x) : x;
}

}  // namespace ballast
