#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ballast/data/text.h"
#include "ballast/metrics/bleu.h"
#include "ballast/metrics/chrf.h"
#include "ballast/metrics/ter.h"

namespace ballast {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

const std::filesystem::path golden = std::filesystem::path(BALLAST_SHARED_DATA) / "bleu-golden";

Json expected() { return Json::parse(std::ifstream(golden / "expected.json")); }

Lines lines(const std::string& which) {
  return read_lines(golden / ("newstest2021.en-de." + which + ".de.gz"));
}

// A case is named "system|references|what"; its signature says the rest.
struct Case {
  Json expected;
  std::string name = expected["name"];
  std::string signature = expected["signature"];

  bool has(std::string_view part) const { return name.find(part) != name.npos; }

  std::string value(const std::string& key) const {
    const size_t begin = signature.find(key + ":") + key.size() + 1;
    return signature.substr(begin, signature.find('|', begin) - begin);
  }

  Lines cut(Lines text) const {
    if (has("|first20")) text.resize(20);
    return text;
  }

  Lines hypotheses() const { return cut(lines("hyp." + name.substr(0, name.find('|')))); }

  std::vector<Lines> references() const {
    std::vector<Lines> all{cut(lines("ref.A"))};
    if (has("refC")) all.push_back(lines("ref.C"));
    return all;
  }

  BleuOptions bleu_options() const {
    const std::string smoothing = value("smooth");
    return {.tokenize = enum_value<BleuTokenization>(value("tok")).value(),
            .smooth_method =
                enum_value<BleuSmoothing>(smoothing.substr(0, smoothing.find('['))).value(),
            .lowercase = value("case") == "lc",
            .effective_order = value("eff") == "yes"};
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const Json file = expected();
  for (const Json& each : file["cases"]) all.push_back({each});
  return all;
}

class SacrebleuGolden : public testing::TestWithParam<Case> {};

void expect_bleu(const Case& golden_case) {
  const auto references = golden_case.references();
  const BleuOptions options = golden_case.bleu_options();
  const BleuScore found = corpus_bleu(golden_case.hypotheses(), references, options);
  const Json& wanted = golden_case.expected;
  EXPECT_NEAR(found.score, wanted["score"].get<double>(), 1e-9);
  EXPECT_EQ(Json(found.counts), wanted["counts"]);
  EXPECT_EQ(Json(found.totals), wanted["totals"]);
  ASSERT_EQ(found.precisions.size(), 4);
  for (size_t n = 0; n < found.precisions.size(); ++n) {
    EXPECT_NEAR(found.precisions[n], wanted["precisions"][n].get<double>(), 1e-9);
  }
  EXPECT_NEAR(found.bp, wanted["bp"].get<double>(), 1e-9);
  EXPECT_EQ(found.sys_len, wanted["sys_len"].get<int64_t>());
  EXPECT_EQ(found.ref_len, wanted["ref_len"].get<int64_t>());
  EXPECT_EQ(bleu_signature(options, references.size()), golden_case.signature);
}

TEST_P(SacrebleuGolden, ScoreIsEqual) {
  const Case& each = GetParam();
  const double wanted = each.expected["score"];
  if (each.has("|TER")) {
    EXPECT_NEAR(corpus_ter(each.hypotheses(), each.references()).score, wanted, 1e-9);
    EXPECT_EQ(ter_signature({}, 1), each.signature);
  } else if (each.has("|chrF2")) {
    const ChrfOptions options{.word_order = each.has("++") ? 2 : 0};
    EXPECT_NEAR(corpus_chrf(each.hypotheses(), each.references(), options), wanted, 1e-9);
    EXPECT_EQ(chrf_signature(options, 1), each.signature);
  } else {
    expect_bleu(each);
  }
}

INSTANTIATE_TEST_SUITE_P(AllCases, SacrebleuGolden, testing::ValuesIn(cases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = std::isalnum(c) ? c : c == '+' ? 'p' : '_';
                           return name;
                         });

TEST(SacrebleuGoldenSentences, EachOfTheFirstFiftyIsEqual) {
  const Lines references = lines("ref.A");
  const Json systems = expected()["sentence_bleu_exp_effective_order_first50"];
  for (const auto& [system, scores] : systems.items()) {
    const Lines hypotheses = lines("hyp." + system);
    ASSERT_EQ(scores.size(), 50);
    for (size_t i = 0; i < scores.size(); ++i) {
      // The file gives six digits after the point.
      EXPECT_NEAR(sentence_bleu(hypotheses[i], Lines{references[i]}).score, scores[i].get<double>(),
                  5.0001e-7)
          << system << " line " << i + 1;
    }
  }
}

}  // namespace
}  // namespace ballast
