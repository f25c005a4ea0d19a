#include "ballast/recipe/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ballast/base/error.h"
#include "ballast/options/load.h"
#include "ballast/options/writer.h"
#include "ballast/recipe/assemble.h"
#include "ballast/recipe/resolve.h"
#include "ballast/store/file.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Recipe recipe_from(const std::string& text) { return read_text<Recipe>(text, "recipe").value; }

std::string first_contradiction(const std::string& text) {
  const auto found = vocabulary_contradictions(recipe_from(text));
  return found.empty() ? "" : found.front().text;
}

// As version 0.1.0 stored it, when a tokenizer was a table and no choice.
TEST(Vocabularies, OfARunThatIsOlderThanTheChoiceAreRead) {
  const Recipe recipe = recipe_from(
      "[model]\nshare_embeddings = \"all\"\n"
      "[data]\ntrain = [\"/a/train.en\", \"/a/train.de\"]\ncontext = 512\n"
      "[data.tokenizer]\nkind = \"unigram\"\nvocabulary_size = 80\ncharacter_coverage = 0.99\n"
      "byte_fallback = false\nnormalization = \"nfkc\"\nremove_extra_spaces = true\n"
      "training_sentences = 2000000\n");
  const Unigram expected{
      .vocabulary_size = 80, .character_coverage = 0.99, .normalization = Normalization::nfkc};
  EXPECT_EQ(recipe.data.tokenizer, TokenizerChoice(expected));
  EXPECT_FALSE(recipe.data.target_tokenizer);
}

TEST(Vocabularies, AreWrittenAndReadBack) {
  const std::string text =
      "[data]\ntokenizer = { kind = \"sentencepiece\", file = \"a.model\" }\n"
      "target_tokenizer = { kind = \"words\", file = \"b.txt\" }\n";
  const Recipe recipe = recipe_from(text);
  EXPECT_EQ(recipe_from(toml_text(recipe)), recipe);
  EXPECT_EQ(std::get<WordFile>(*recipe.data.target_tokenizer).file, "b.txt");
  const Recipe common = recipe_from("[data]\ntokenizer = { vocabulary_size = 80 }\n");
  EXPECT_EQ(common.data.tokenizer, TokenizerChoice(Bpe{.vocabulary_size = 80}));
}

TEST(Vocabularies, ThatContradictTheRestAreTold) {
  const std::string apart = "[data]\ntarget_tokenizer = { vocabulary_size = 80 }\n";
  EXPECT_EQ(first_contradiction(apart), "");
  EXPECT_EQ(first_contradiction("[model]\nshare_embeddings = \"none\"\n" + apart), "");
  EXPECT_THAT(first_contradiction("[model]\nshare_embeddings = \"all\"\n" + apart),
              HasSubstr("needs one vocabulary"));
  EXPECT_THAT(first_contradiction("[model]\nkind = \"causal_lm\"\n" + apart),
              HasSubstr("data.target_tokenizer is for translation"));
  EXPECT_THAT(first_contradiction("[data]\ntokenizer = \"words\"\n"),
              HasSubstr("data.tokenizer = { kind = \"words\" } names no file"));
  EXPECT_THAT(first_contradiction("[data]\ntarget_tokenizer = \"sentencepiece\"\n"),
              HasSubstr("data.target_tokenizer"));
}

TEST(Vocabularies, DecideWhatAutomaticSharingIsAndWhereTheirFilesLie) {
  const TemporaryDirectory folder;
  write_file(folder / "words.txt", "a\nb\n");
  const auto loaded = [&](const std::string& data) {
    write_file(folder / "recipe.toml", "[data]\ntrain = [\"a.en\", \"a.de\"]\n" + data);
    return load_recipe(folder / "recipe.toml", {}, TextFiles::not_needed);
  };
  const Recipe joint = loaded("tokenizer = { kind = \"words\", file = \"words.txt\" }\n");
  EXPECT_EQ(joint.model.share_embeddings, EmbeddingSharing::all);
  EXPECT_EQ(std::get<WordFile>(joint.data.tokenizer).file, (folder / "words.txt").string());
  const Recipe apart = loaded("target_tokenizer = { vocabulary_size = 80 }\n");
  EXPECT_EQ(apart.model.share_embeddings, EmbeddingSharing::target_output);
}

TEST(Vocabularies, OfAFileMayMoveWithinARun) {
  const Recipe before = recipe_from("[data]\ntokenizer = { kind = \"words\", file = \"a\" }\n");
  const Recipe moved = recipe_from("[data]\ntokenizer = { kind = \"words\", file = \"b\" }\n");
  EXPECT_THAT(incompatibilities(before, moved), IsEmpty());
  EXPECT_FALSE(incompatibilities(before, recipe_from("")).empty());
}

TEST(Vocabularies, ShareTablesOnlyWhereAnIdMeansTheSame) {
  Recipe recipe;
  recipe.model.d_model = 8;
  recipe.model.d_ff = 8;
  recipe.model.heads = 2;
  const auto model = [&](const VocabularySizes& sizes) { return build_model(recipe, sizes).model; };
  const auto joint = model({11, 11});
  EXPECT_EQ(joint->source_embedding, joint->target_embedding);
  const auto apart = model({11, 11, false});
  EXPECT_NE(apart->source_embedding, apart->target_embedding);
  EXPECT_TRUE(apart->output->is_tied());
  const auto unequal = model({12, 11, false});
  EXPECT_EQ(unequal->source_embedding->weight.size(0), 12);
  EXPECT_EQ(unequal->target_embedding->weight.size(0), 11);
  recipe.model.share_embeddings = EmbeddingSharing::all;
  EXPECT_THROW(model({11, 11, false}), RecipeError);
}

}  // namespace
}  // namespace ballast
