#include "ballast/base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace ballast {
namespace {

TEST(Suggest, EditDistanceCountsASwapOfNeighboursOnce) {
  EXPECT_EQ(edit_distance("output_chnage", "output_change"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, ATypoFindsItsWordAndNonsenseFindsTheList) {
  const std::vector<std::string> words{"post_norm", "pre_norm", "admin"};
  EXPECT_EQ(did_you_mean("post_nrom", words), "; did you mean \"post_norm\"?");
  EXPECT_EQ(did_you_mean("zzzzzzzz", words), "; expected one of post_norm, pre_norm, admin");
}

}  // namespace
}  // namespace ballast
