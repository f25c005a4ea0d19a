#include "ballast/theory/truncated_normal.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "ballast/base/error.h"

namespace ballast {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_close(double found, double expected, double tolerance = 1e-12) {
  EXPECT_NEAR(found, expected, tolerance * std::abs(expected));
}

// Computed with 40 digits by mpmath from the closed form.
TEST(TruncatedNormal, SymmetricCutsKeepTheTabledShareOfTheVariance) {
  struct Cut {
    double c, share, root, correction, kept;
  };
  const std::array<Cut, 7> cuts{
      {{1, 0.2911250947727932, 0.5395600937548970, 1.853361676622187, 0.682689492137},
       {1.5, 0.5515244157615513, 0.7426468984393264, 1.346534944266921, 0.866385597462},
       {2, 0.7737413035499232, 0.8796256610342398, 1.136847234338556, 0.954499736104},
       {2.5, 0.9112563609353919, 0.9545974863445807, 1.047561945537148, 0.987580669348},
       {3, 0.9733369246625415, 0.9865783925581086, 1.013604197642207, 0.997300203937},
       {4, 0.9989292903724738, 0.9994645018070796, 1.000535785104876, 0.999936657516},
       {5, 0.9999851327963292, 0.9999925663705352, 1.000007433684724, 0.999999426697}}};
  for (const Cut& cut : cuts) {
    const TruncatedMoments found = truncated_normal_moments(0, 1, -cut.c, cut.c);
    EXPECT_EQ(found.mean, 0);
    EXPECT_EQ(found.variance, truncation_share(cut.c));
    expect_close(found.variance, cut.share);
    expect_close(std::sqrt(found.variance), cut.root);
    expect_close(1 / std::sqrt(found.variance), cut.correction);
    expect_close(found.kept, cut.kept);
  }
}

TEST(TruncatedNormal, ANarrowSymmetricCutIsUniform) {
  expect_close(truncation_share(1e-6), 1e-12 / 3);
  // Where the closed form hands over to the quadrature.
  expect_close(truncation_share(std::nextafter(0.5, 0.0)), truncation_share(0.5), 1e-13);
  EXPECT_EQ(truncation_share(infinity), 1);
}

TEST(TruncatedNormal, AHalfLineHasTheHalfNormalMoments) {
  const TruncatedMoments half = truncated_normal_moments(0, 2, 0, infinity);
  expect_close(half.mean, 2 * std::sqrt(2 / M_PI), 1e-15);
  expect_close(half.variance, 4 * (1 - 2 / M_PI), 1e-14);
  expect_close(half.kept, 0.5, 1e-15);
}

struct Known {
  double mean, std, low, high;
  TruncatedMoments moments;
};

// mpmath with 40 digits: w = lambda x: exp((peak**2 - ((x - mu)/s)**2)/2), Z = quad(w, grid), mean
// = quad(x w)/Z, variance = quad((x - mean)^2 w)/Z. `kept` of [40, inf) is 3.7e-350.
constexpr std::array<Known, 7> known{
    {{0, 1, 10, 11, {10.098068374933019144, 0.0094207719023364950918, 7.6196619582030761984e-24}},
     {0, 1, 40, infinity, {40.024968847207263723, 0.0006226683785913887735, 0}},
     {0,
      1,
      5,
      infinity,
      {5.1865039671258421156, 0.032696434617112225345, 2.8665157187919391167e-7}},
     {0, 1, -1, 3, {0.28278611072715400772, 0.61614173535782929613, 0.83999484803691285406}},
     {0,
      1,
      0.5,
      0.5 + 0x1p-20,
      {0.50000047683712030748, 7.5791225147740860454e-14, 3.3575557978186082318e-7}},
     {0, 1, -38, -37, {-37.026987686126990046, 0.00072727809887746302069, 5.72557122252457e-300}},
     {0.25, 1.5, -1, 2, {0.42732239912735576087, 0.65223620018466878726, 0.67599911446197571781}}}};

TEST(TruncatedNormal, AnyIntervalKeepsItsDigitsInTheFarTailToo) {
  for (const auto& [mean, std, low, high, moments] : known) {
    const TruncatedMoments found = truncated_normal_moments(mean, std, low, high);
    expect_close(found.mean, moments.mean, 1e-14);
    expect_close(found.variance, moments.variance);
    EXPECT_NEAR(found.kept, moments.kept, 1e-12 * moments.kept) << low << ' ' << high;
  }
}

TEST(TruncatedNormal, AnIntervalWithoutLengthIsRefused) {
  EXPECT_THROW(truncated_normal_moments(0, 1, 2, 2), RecipeError);
  EXPECT_THROW(truncated_normal_moments(0, 1, 2, std::nan("")), RecipeError);
}

TEST(NormalParent, CutAtItsOwnDeviationsHasTheMomentsAskedFor) {
  // Both ways round: BERT's 0.02, cut at two, is 0.0175925; and the parent of that is 0.02 again.
  EXPECT_NEAR(std::sqrt(truncated_normal_moments(0, 0.02, -0.04, 0.04).variance), 0.0175925, 5e-8);
  expect_close(parent_cut_at(-2, 2, 0, 0.02 * 0.8796256610342397504).std, 0.02);
  const NormalParent parent = parent_cut_at(-1, 3, 0.5, 0.1);
  const TruncatedMoments cut = truncated_normal_moments(
      parent.mean, parent.std, parent.mean - parent.std, parent.mean + 3 * parent.std);
  expect_close(cut.mean, 0.5);
  expect_close(cut.variance, 0.01);
}

TEST(NormalParent, CutToAnIntervalIsFoundAgainFromTheMomentsOfTheCut) {
  for (const auto& [mean, std, low, high, moments] : known) {
    const double wanted = std::sqrt(moments.variance);
    const NormalParent parent = parent_cut_to(low, high, moments.mean, wanted);
    const TruncatedMoments cut = truncated_normal_moments(parent.mean, parent.std, low, high);
    EXPECT_NEAR(cut.mean, moments.mean, 1e-11 * wanted) << low << ' ' << high;
    expect_close(std::sqrt(cut.variance), wanted, 1e-11);
    if (high - low < 2 || std::isinf(high)) continue;  // a tail hardly knows its parent
    EXPECT_NEAR(parent.mean, mean, 1e-10);
    EXPECT_NEAR(parent.std, std, 1e-10);
  }
}

TEST(NormalParent, OfAnIntervalAroundTheMeanHasThatMean) {
  const NormalParent parent = parent_cut_to(-2, 2, 0, 0.8796256610342397504);
  EXPECT_NEAR(parent.mean, 0, 1e-12);
  expect_close(parent.std, 1, 1e-11);
}

TEST(NormalParent, ThatIsNotThereIsRefused) {
  const auto refused = [](double low, double high, double mean, double std) {
    EXPECT_THROW(parent_cut_to(low, high, mean, std), RecipeError) << low << ' ' << high;
  };
  // Uniform has 0.57735, nothing that is cut to [-1, 1] around 0 is wider; exponential has 1.
  refused(-1, 1, 0, 0.5774);
  EXPECT_GT(parent_cut_to(-1, 1, 0, 0.5773).std, 10);
  refused(0, infinity, 1, 1.001);
  EXPECT_GT(parent_cut_to(0, infinity, 1, 0.99).std, 5);
  refused(0, 1, 2, 0.1);
  refused(0, 1, 0.5, 0);
  refused(1, 0, 0.5, 0.1);
}

}  // namespace
}  // namespace ballast
