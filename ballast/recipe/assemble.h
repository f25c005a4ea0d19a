#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ballast/data/corpus.h"
#include "ballast/data/encode_documents.h"
#include "ballast/data/tokenizer.h"
#include "ballast/metrics/text_size.h"
#include "ballast/model/transformer.h"
#include "ballast/recipe/recipe.h"
#include "ballast/train/training_parts.h"
#include "ballast/values/calibrate.h"
#include "ballast/values/plan.h"

namespace ballast {

/// A recipe's text as ids.
struct PreparedData {
  std::shared_ptr<const Tokenizers> tokenizers;
  std::shared_ptr<const EncodedCorpus> train, valid;  ///< valid is null when the recipe has none
  TextSize valid_text = {};                           ///< of a language model's; else nothing
};

/// A model and the plan of its values.
struct PlannedModel {
  std::shared_ptr<Transformer> model;
  Plan plan;
};

/// What long work asks of whoever started it: whether to stop, which raises Stopped, and where
/// remarks go (empty: nowhere).
struct Oversight {
  std::stop_token stop;
  std::function<void(const std::string&)> remark;
  std::function<void(const EncodingProgress&)> progress = {};  ///< of a text that becomes ids
};

/// Whose text a vocabulary is for.
enum class Side { both, source, target };

/// What a recipe says of the vocabulary of a side.
const TokenizerChoice& tokenizer_choice(const DataOptions& data, Side side);

/// Learns a vocabulary from its side of the training text, or reads the file that is given. Remarks
/// on words too long to learn from. Raises what `Tokenizer::train` and `read_sentencepiece` raise.
Tokenizer make_tokenizer(const Recipe& recipe, Side side, const Oversight& oversight = {});

/// All vocabularies of a recipe, one for both sides or one each, made by `make(side)`.
Tokenizers tokenizers_by(const DataOptions& data, const std::function<Tokenizer(Side)>& make);
Tokenizers make_tokenizers(const Recipe& recipe, const Oversight& oversight = {});

/// Ids of the model's tables: those of the vocabularies, and the mask piece of a masked_lm.
VocabularySizes sizes_of(const Recipe& recipe, const Tokenizers& tokenizers);

/// Text files, and where their encoded form is kept (empty: nowhere).
struct CorpusFiles {
  std::vector<std::string> text;
  std::filesystem::path cache;
  std::vector<double> mixture = {};  ///< weights of the files of a language model, see `Packing`
};

/// The text that is trained on.
CorpusFiles training_files(const DataOptions& data, const std::filesystem::path& cache = {});

/// Reads the files and encodes them as the model kind wants, or takes the cache when it was made
/// from the same text, tokenizers and options; otherwise writes it anew.
EncodedCorpus encode_files(const Recipe& recipe, const CorpusFiles& files,
                           const Tokenizers& tokenizers, const Oversight& oversight = {});

/// Builds and parameterizes on the CPU, for values that are read from a file: until then they are
/// undefined.
PlannedModel build_empty_model(const Recipe& recipe, const VocabularySizes& sizes);

/// The same with the initial values of the recipe's seed.
PlannedModel build_model(const Recipe& recipe, const VocabularySizes& sizes);

/// Calibrates on the first training batch of the first epoch.
Profile calibrate_on(const Recipe& recipe, Transformer& model,
                     const std::shared_ptr<const EncodedCorpus>& corpus);

/// What a `Trainer` of this recipe needs.
TrainingParts training_parts(const Recipe& recipe, const PlannedModel& model,
                             const PreparedData& data);

}  // namespace ballast
