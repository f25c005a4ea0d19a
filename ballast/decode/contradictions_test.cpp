#include "ballast/decode/contradictions.h"

#include <gmock/gmock.h>

namespace ballast {
namespace {

std::vector<std::string> options_found(const DecodeOptions& options) {
  std::vector<std::string> found;
  for (const Contradiction& each : contradictions(options)) found.push_back(each.option);
  return found;
}

TEST(DecodeContradictions, AreAllFound) {
  using ::testing::ElementsAre;
  EXPECT_THAT(options_found({}), ElementsAre());
  EXPECT_THAT(options_found({.search = RandomSampling{}}), ElementsAre("decode.beam"));
  EXPECT_THAT(options_found({.search = RandomSampling{}, .beam = 1}), ElementsAre());
  EXPECT_THAT(options_found({.min_length = 1, .allow_empty = true}),
              ElementsAre("decode.allow_empty"));
  EXPECT_THAT(options_found({.max_ratio = 1, .min_ratio = 1.5}), ElementsAre("decode.min_ratio"));
  EXPECT_THAT(options_found({.max_ratio = 0, .max_extra = 5, .min_length = 5}),
              ElementsAre("decode.min_length"));
  EXPECT_THAT(options_found({.max_ratio = 0, .max_extra = 6, .min_length = 5}), ElementsAre());
  EXPECT_THAT(options_found({.search = RandomSampling{}, .min_ratio = 3, .allow_empty = true}),
              ElementsAre("decode.allow_empty", "decode.min_ratio", "decode.beam"));
}

}  // namespace
}  // namespace ballast
