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

namespace {

/// The cases of a list, each made from the default row of its kind.
template <class Choice, class Make>
std::vector<LawCase> cases_of(const Make& make) {
  std::vector<LawCase> all;
  for (const std::string& name : kind_names<Choice>()) {
    all.push_back({name, make(*ChoiceTraits<Choice>::make(name))});
  }
  return all;
}

/// Those of a list that one option holds.
template <class Choice>
std::vector<LawCase> cases_of(Choice ModelOptions::*option) {
  return cases_of<Choice>([option](const Choice& kind) {
    ModelOptions options = toy_options();
    options.*option = kind;
    return options;
  });
}

}  // namespace

std::vector<LawCase> scheme_cases() {
  return cases_of<ResidualChoice>([](ResidualChoice kind) {
    if (auto* mixed = std::get_if<MixNorm>(&kind)) mixed->share = 0.5;  // of two blocks
    return toy_options(kind);
  });
}

std::vector<LawCase> norm_cases() {
  return cases_of<NormChoice>([](NormChoice kind) {
    if (auto* grouped = std::get_if<GroupNorm>(&kind)) grouped->groups = 2;
    ModelOptions options = toy_options(PreNorm{});
    // A norm over a sequence of one token gives zeros, where relu has no derivative.
    options.activation = Gelu{};
    if (form_of(kind).is_row_wise()) {
      options.norm = kind;
    } else {
      options.sites = {{.stack = Stack::encoder, .norm = kind}};
    }
    return options;
  });
}

std::vector<LawCase> query_key_cases() { return cases_of(&ModelOptions::query_key_norm); }
std::vector<LawCase> position_cases() { return cases_of(&ModelOptions::positions); }
std::vector<LawCase> activation_cases() { return cases_of(&ModelOptions::activation); }
std::vector<LawCase> weight_cases() { return cases_of(&ModelOptions::weights); }

std::vector<LawCase> init_cases() {
  std::vector<LawCase> cases = cases_of<InitChoice>([](const InitChoice&) {
    ModelOptions options = toy_options();
    options.share_embeddings = EmbeddingSharing::none;
    return options;
  });
  for (LawCase& each : cases) each.init = *ChoiceTraits<InitChoice>::make(each.name);
  return cases;
}

std::vector<LawCase> all_cases() {
  std::vector<LawCase> all;
  for (const auto& list : {scheme_cases(), norm_cases(), query_key_cases(), position_cases(),
                           activation_cases(), weight_cases()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace ballast::testing
