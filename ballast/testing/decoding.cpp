#include "ballast/testing/decoding.h"

namespace ballast::testing {

std::shared_ptr<Transformer> sharp_toy_model() {
  auto model = toy_model(toy_options(PreNorm{}));
  model->target_embedding->weight.detach().mul_(3);
  return model;
}

double forced_log_probability(const Transformer& model, const Packed& source,
                              const Hypothesis& hypothesis) {
  std::vector<int64_t> input{2}, output = hypothesis.tokens;
  input.insert(input.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
  output.push_back(3);
  const std::vector<int64_t> lengths{static_cast<int64_t>(input.size())};
  const torch::Tensor hidden =
      model.forward(source, {torch::tensor(input, torch::kInt64), Segments::packed(lengths)});
  const torch::Tensor targets = torch::tensor(output, torch::kInt64);
  return target_log_probabilities(model.output->against(hidden, targets)).sum().item<double>();
}

}  // namespace ballast::testing
