#include "ballast/base/made_from.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(MadeFrom, IsMadeAgainWhenASourceHasChanged) {
  MadeFrom kept;
  const torch::Tensor source = torch::ones({2});
  int made = 0;
  const auto get = [&] {
    return kept.get({source}, [&] {
      ++made;
      return source * 2;
    });
  };
  get();
  EXPECT_TRUE(torch::equal(get(), torch::full({2}, 2.0)));
  EXPECT_EQ(made, 1);
  source.add_(1);
  EXPECT_TRUE(torch::equal(get(), torch::full({2}, 4.0)));
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace ballast
