#include "ballast/recipe/vocabularies.h"

#include <fmt/format.h>

#include <type_traits>

namespace ballast {
namespace {

template <class Choice>
auto* file_of(Choice& choice) {
  using Text = std::conditional_t<std::is_const_v<Choice>, const std::string, std::string>;
  return std::visit(
      [](auto& given) -> Text* {
        if constexpr (requires { given.file; }) return &given.file;
        return nullptr;
      },
      choice);
}

}  // namespace

std::vector<std::string*> vocabulary_files(DataOptions& data) {
  std::vector<std::string*> files{file_of(data.tokenizer)};
  if (data.target_tokenizer) files.push_back(file_of(*data.target_tokenizer));
  std::erase(files, nullptr);
  return files;
}

std::vector<Contradiction> vocabulary_contradictions(const Recipe& recipe) {
  std::vector<Contradiction> found;
  const auto check = [&](const std::string& name, const TokenizerChoice& choice) {
    const std::string* file = file_of(choice);
    if (!file || !file->empty()) return;
    found.push_back({name, fmt::format("{0} = {{ kind = \"{1}\" }} names no file; add file = "
                                       "\"...\"",
                                       name, info_of(choice).name)});
  };
  check("data.tokenizer", recipe.data.tokenizer);
  if (!recipe.data.target_tokenizer) return found;
  check("data.target_tokenizer", *recipe.data.target_tokenizer);
  if (!recipe.model.shape().has_source) {
    found.push_back({"data.target_tokenizer",
                     "data.target_tokenizer is for translation; a causal_lm has one text, whose "
                     "vocabulary is data.tokenizer"});
  } else if (recipe.model.share_embeddings == EmbeddingSharing::all) {
    found.push_back({"model.share_embeddings",
                     "model.share_embeddings = \"all\" needs one vocabulary, but "
                     "data.target_tokenizer gives the target side its own; use \"auto\" or "
                     "\"target_output\""});
  }
  return found;
}

}  // namespace ballast
