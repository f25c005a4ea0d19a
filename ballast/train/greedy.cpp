#include "ballast/train/greedy.h"

#include <vector>

#include "ballast/kernels/linear.h"

namespace ballast {

torch::Tensor greedy_hits(const CrossEntropyInputs& inputs) {
  constexpr int64_t rows = 256;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> hits{torch::empty({0}, torch::kBool)};
  for (int64_t begin = 0; begin < inputs.hidden.size(0); begin += rows) {
    const torch::Tensor logits =
        linear(inputs.hidden.slice(0, begin, begin + rows), inputs.weight, inputs.bias,
               {.multiplier = inputs.multiplier, .bf16_weight = inputs.bf16_weight});
    const torch::Tensor targets = inputs.targets.slice(0, begin, begin + rows);
    hits.push_back(logits.argmax(1).eq(targets).to(torch::kCPU));
  }
  return torch::cat(hits);
}

}  // namespace ballast
