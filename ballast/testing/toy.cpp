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

ModelOptions as_kind(ModelKind kind, ModelOptions options) {
  options.kind = kind;
  std::erase_if(options.sites, [&](const SiteRule& rule) {
    return rule.stack && !options.shape().has(*rule.stack);
  });
  return options;
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
std::vector<LawCase> position_cases() {
  std::vector<LawCase> all = cases_of(&ModelOptions::positions);
  all.push_back({"sinusoidal_of_the_paper", toy_options()});
  all.back().options.positions = SinusoidalPositions{
      .first = 0, .layout = PairLayout::interleaved, .frequencies = Frequencies::paper};
  return all;
}

std::vector<LawCase> activation_cases() { return cases_of(&ModelOptions::activation); }
std::vector<LawCase> weight_cases() { return cases_of(&ModelOptions::weights); }
std::vector<LawCase> score_cases() { return cases_of(&ModelOptions::scores); }

std::vector<LawCase> attention_cases() {
  std::vector<LawCase> all;
  const auto add = [&](const std::string& name, ModelOptions options, int64_t key_value_heads) {
    options.heads = 4;
    options.key_value_heads = key_value_heads;
    all.push_back({name, options});
  };
  for (const LawCase& each : position_cases()) add("grouped_" + each.name, each.options, 2);
  for (const LawCase& each : query_key_cases()) {
    add("grouped_norm_" + each.name, each.options, 2);
  }
  add("grouped_normformer", toy_options(NormFormer{}), 2);
  add("one_key_value_head", toy_options(), 1);
  for (const PositionChoice& positions : {PositionChoice(RotaryPositions{}), {BucketPositions{}}}) {
    ModelOptions options = toy_options();
    options.positions = positions;
    options.attention_soft_cap = 0.5;  // small, for the logits of a toy are
    add("capped_" + std::string(info_of(positions).name), options, 4);
  }
  return all;
}

std::vector<LawCase> shape_cases() {
  std::vector<LawCase> all;
  const auto add = [&](const std::string& name, const ResidualChoice& residual) -> ModelOptions& {
    all.push_back({name, toy_options(residual)});
    all.back().options.activation = Gelu{};
    return all.back().options;
  };
  add("wide_heads", PreNorm{}).head_width = 6;
  add("narrow_heads_in_groups", NormFormer{}).head_width = 2;
  all.back().options.heads = 4;
  all.back().options.key_value_heads = 2;
  add("without_biases", PreNorm{}).linear_bias = false;
  add("without_biases_but_shifts", Fixup{}).linear_bias = false;
  add("unscaled_embedding", PreNorm{}).embedding_scale = UnscaledEmbedding{};
  add("embedding_norm", PostNorm{}).embedding_norm = true;
  add("output_transform", PostNorm{}).output_transform = true;
  add("output_transform_of_a_pair", LayerScale{}).output_transform = true;
  GeGlu pair;
  pair.normalize = Normalize::mean_and_variance;
  all.back().options.activation = pair;
  add("capped_logits", PreNorm{}).logit_soft_cap = 0.5;  // small, for the logits of a toy are
  all.back().options.output_bias = true;
  return all;
}

std::vector<LawCase> init_cases() {
  std::vector<LawCase> cases = cases_of<InitChoice>([](const InitChoice&) {
    ModelOptions options = toy_options();
    options.share_embeddings = EmbeddingSharing::none;
    options.activation = Gelu{};  // without a kink that a finite difference may cross
    return options;
  });
  for (LawCase& each : cases) each.init = *ChoiceTraits<InitChoice>::make(each.name);
  return cases;
}

std::vector<LawCase> all_cases() {
  std::vector<LawCase> all;
  for (const auto& list :
       {scheme_cases(), norm_cases(), query_key_cases(), position_cases(), activation_cases(),
        weight_cases(), score_cases(), attention_cases(), shape_cases()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace ballast::testing
