#include "ballast/metrics/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ballast/base/error.h"

namespace ballast {
namespace {

TEST(Perplexity, OfAUniformGuessIsTheNumberOfChoices) {
  EXPECT_DOUBLE_EQ(perplexity(5 * std::log(32.0), 5), 32);
}

TEST(Perplexity, OfNoTokensIsRefused) { EXPECT_THROW(perplexity(0, 0), DataError); }

}  // namespace
}  // namespace ballast
