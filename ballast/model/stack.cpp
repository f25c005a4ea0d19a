#include "ballast/model/stack.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <utility>

namespace ballast {
namespace {

/// A context as it was at some moment, until destroyed.
class ContextThen {
 public:
  ContextThen(Context& context, const Context& then)
      : context_(context), now_(std::exchange(context, then)) {}
  ~ContextThen() { context_ = std::move(now_); }
  ContextThen(const ContextThen&) = delete;
  ContextThen& operator=(const ContextThen&) = delete;

 private:
  Context& context_;
  Context now_;
};

}  // namespace

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
  const bool recomputing = recomputes();
  for (const auto& block : blocks) {
    y = recomputing ? recomputed(part_of(block, segments, memory), y,
                                 memory == nullptr ? torch::Tensor() : memory->rows)
                    : block->forward(y, segments, memory);
  }
  return finished(y);
}

torch::Tensor BlockStack::step(const torch::Tensor& x, std::vector<BlockCache>& caches,
                               const Reading& reading) const {
  torch::Tensor y = x;
  for (size_t i = 0; i < blocks.size(); ++i) y = blocks[i]->step(y, caches[i], reading);
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

bool BlockStack::recomputes() const {
  return activations == Activations::recomputed && is_training() && !context().observer;
}

/// The second run draws the dropout masks of the first, whatever batch came between.
ForwardPart BlockStack::part_of(const std::shared_ptr<Block>& block, const Segments& segments,
                                const Memory* memory) const {
  return [block, segments, sentences = memory == nullptr ? Segments() : memory->segments,
          copy = memory == nullptr ? torch::Tensor() : memory->bf16, &now = context(),
          then = context()](const torch::Tensor& x, const torch::Tensor& rows) {
    const ContextThen scope(now, then);
    const Memory read{rows, sentences, copy};
    return block->forward(x, segments, rows.defined() ? &read : nullptr);
  };
}

torch::Tensor BlockStack::finished(const torch::Tensor& x) const {
  return final_norm ? final_norm->forward(x) : x;
}

}  // namespace ballast
