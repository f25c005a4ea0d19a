#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ballast/model/transformer.h"
#include "ballast/values/plan.h"

namespace ballast::testing {

/// A small seq2seq model of the given scheme: 2 + 2 layers, width 8, vocabulary 11, no dropout.
ModelOptions toy_options(const ResidualChoice& residual = PostNorm{});

/// Random sentences of the given lengths, ids 4 .. vocabulary - 1 (below are the special pieces),
/// which depend on lengths, vocabulary and seed alone.
Packed toy_ids(const std::vector<int64_t>& lengths, int64_t vocabulary, uint64_t seed);

/// A model with values drawn by `init`, in evaluation mode and in the default type; not calibrated.
/// Source and target share a vocabulary of `toy_vocabulary` ids.
std::shared_ptr<Transformer> toy_model(const ModelOptions& options, uint64_t seed = 1,
                                       const InitChoice& init = Fairseq{});

constexpr int64_t toy_vocabulary = 11;  ///< ids, of which 0 to 3 are special

/// The same model as one of another kind, without what only an encoder beside a decoder may have.
ModelOptions as_kind(ModelKind kind, ModelOptions options);

/// A toy model that a law suite looks at, and what it is called.
struct LawCase {
  std::string name;
  ModelOptions options;
  InitChoice init = Fairseq{};
};

inline std::shared_ptr<Transformer> toy_model(const LawCase& each) {
  return toy_model(each.options, 1, each.init);
}

/// The model of a case, calibrated, with everything away from its start, so that what begins at
/// zero takes part too; at step 700, in evaluation mode.
std::shared_ptr<Transformer> moved_toy_model(const LawCase& each, const Packed& source,
                                             const Packed& target);

/// Root mean square, over the parameters of a model in double, of the difference between the
/// derivative along a random direction that its gradient gives and the one measured by going a step
/// there and back, over that of the measured ones. A direction moves every element of its
/// parameter, so a single wrong one shows. `loss` is a scalar of the model.
double gradient_error(Transformer& model, const std::function<torch::Tensor()>& loss);

/// One toy model for every row of a list. Norms that read more than one token stand in the encoder.
std::vector<LawCase> scheme_cases();
std::vector<LawCase> norm_cases();
std::vector<LawCase> query_key_cases();
std::vector<LawCase> position_cases();
std::vector<LawCase> activation_cases();
std::vector<LawCase> weight_cases();
std::vector<LawCase> score_cases();
std::vector<LawCase> attention_cases();  ///< grouped heads with every row beside, and soft caps
std::vector<LawCase> shape_cases();      ///< what presets set besides rows of lists
std::vector<LawCase> all_cases();        ///< of all lists that change what a model is made of
std::vector<LawCase> init_cases();       ///< with tables of their own for source, target and output

}  // namespace ballast::testing
