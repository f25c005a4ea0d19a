#include "ballast/testing/toy.h"

#include "ballast/base/philox.h"
#include "ballast/base/sampling.h"

namespace ballast::testing {

ModelOptions toy_options(const ResidualChoice& residual) {
  return {.d_model = 8,
          .d_ff = 16,
          .heads = 2,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .dropout = 0,
          .residual = residual};
}

Packed toy_ids(const std::vector<int64_t>& lengths, int64_t vocabulary, uint64_t seed) {
  const Segments segments = Segments::packed(lengths);
  const torch::Tensor uniform = uniform_numbers({segments.tokens()}, mix(seed, 77));
  const torch::Tensor ids = (uniform * static_cast<double>(vocabulary - 4)).floor() + 4;
  return {ids.to(torch::kInt64), segments};
}

std::shared_ptr<Transformer> toy_model(const ModelOptions& options, uint64_t seed,
                                       const InitChoice& init) {
  auto model =
      std::make_shared<Transformer>(options, VocabularySizes{toy_vocabulary, toy_vocabulary});
  const auto planned = plan(*model, {.init = init});
  parameterize(planned);
  initialize(planned, seed);
  model->eval();
  return model;
}

std::vector<ResidualChoice> all_schemes() {
  std::vector<ResidualChoice> all;
  for (const std::string& name : kind_names<ResidualChoice>()) {
    all.push_back(*ChoiceTraits<ResidualChoice>::make(name));
  }
  return all;
}

}  // namespace ballast::testing
