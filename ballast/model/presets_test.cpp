#include "ballast/model/presets.h"

#include <gtest/gtest.h>

#include "ballast/model/contradictions.h"
#include "ballast/model/transformer.h"
#include "ballast/options/load.h"
#include "ballast/options/writer.h"

namespace ballast {
namespace {

ModelOptions read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_text<ModelOptions>(text, "r.toml", overrides).value;
}

TEST(Presets, StandForDefaultsWhateverTheOrder) {
  const ModelOptions behind = read("norm = { eps = 1e-3 }\ndropout = 0.2\npreset = \"nanogpt\"\n");
  EXPECT_EQ(behind.kind, ModelKind::causal_lm);
  EXPECT_EQ(behind.norm, NormChoice(LayerNorm{.eps = 1e-3, .bias = false}));
  EXPECT_EQ(behind.dropout, 0.2);
  EXPECT_EQ(behind.attention_dropout, 0);
  EXPECT_EQ(behind, read("preset = \"nanogpt\"\ndropout = 0.2\nnorm = { eps = 1e-3 }\n"));
  EXPECT_EQ(behind, read("norm = { eps = 1e-3 }\ndropout = 0.2\n", {"preset=nanogpt"}));
}

TEST(Presets, LeaveTheSizesToTheRecipe) {
  for (const std::string& name : kind_names<PresetChoice>()) {
    const ModelOptions made = read("preset = \"" + name + "\"\n"), plain;
    EXPECT_EQ(made.d_model, plain.d_model) << name;
    EXPECT_EQ(made.d_ff, plain.d_ff) << name;
    EXPECT_EQ(made.heads, plain.heads) << name;
    EXPECT_EQ(made.encoder_layers, plain.encoder_layers) << name;
    EXPECT_EQ(made.decoder_layers, plain.decoder_layers) << name;
    EXPECT_TRUE(contradictions(made).empty()) << name;
  }
}

TEST(Presets, AWrittenModelReadsBack) {
  for (const std::string& name : kind_names<PresetChoice>()) {
    ModelOptions options = read("preset = \"" + name + "\"\n");
    options.dropout = 0.33;
    options.linear_bias = !options.linear_bias;
    EXPECT_EQ(read(toml_text(options)), options) << name;
  }
}

TEST(Presets, AnUnknownOneIsToldWithTheNearest) {
  try {
    read("preset = \"lama\"\nkind = \"seq2seq\"\n");
    FAIL() << "nothing was refused";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("\"llama\""), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ballast
