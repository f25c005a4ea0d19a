#include "ballast/kernels/adam.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "ballast/kernels/comparison.h"
#include "ballast/kernels/select.h"
#include "ballast/kernels/sum_of_squares.h"

namespace ballast {
namespace {

constexpr AdamUpdate plain{.beta1 = 0.9,
                           .beta2 = 0.98,
                           .gradient_scale = 0.25,
                           .l2 = 0.01,
                           .decay = 1e-4,
                           .step = 1e-2,
                           .epsilon = 1e-6};
constexpr AdamUpdate momentum{.beta1 = 0.5, .beta2 = 0.9, .step = 0.1, .root = 0, .epsilon = 1};

AdamTensors tensors_of(std::vector<int64_t> sizes, uint64_t seed, const AdamUpdate& update) {
  return {drawn(sizes, seed), drawn(sizes, seed + 1), drawn(sizes, seed + 2),
          drawn(sizes, seed + 3).square(), update};
}

/// Sizes around the width of a vector and the size of a chunk, none, and a table.
std::vector<AdamTensors> some() {
  std::vector<AdamTensors> all;
  uint64_t seed = 10;
  for (const int64_t size : {0, 1, 2, 7, 8, 9, 31, 32767, 32768, 32769, 0, 100003}) {
    seed += 10;
    all.push_back(tensors_of({size}, seed, seed % 20 == 0 ? plain : momentum));
  }
  all.push_back(tensors_of({129, 257}, 1000, plain));
  return all;
}

std::vector<AdamTensors> copies(const std::vector<AdamTensors>& all, torch::ScalarType type) {
  std::vector<AdamTensors> out;
  for (AdamTensors each : all) {
    for (torch::Tensor* t :
         {&each.value, &each.gradient, &each.first_moment, &each.second_moment}) {
      if (t->defined()) *t = t->to(type, false, true);
    }
    out.push_back(each);
  }
  return out;
}

std::vector<AdamTensors> updated(const std::vector<AdamTensors>& all) {
  std::vector<AdamTensors> out = copies(all, torch::kFloat32);
  adam(out);
  return out;
}

bool equal(const std::vector<AdamTensors>& a, const std::vector<AdamTensors>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.value.equal(y.value) && x.first_moment.equal(y.first_moment) &&
           x.second_moment.equal(y.second_moment);
  });
}

TEST(Adam, AgreesWithTheReferenceForAllSizes) {
  const std::vector<AdamTensors> all = some();
  std::vector<AdamTensors> expected = copies(all, torch::kFloat64);
  for (const AdamTensors& each : expected) adam_reference(each);
  on_every_target([&] {
    const std::vector<AdamTensors> found = updated(all);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_LT(relative_error(found[i].value, expected[i].value), 1e-6) << i;
      EXPECT_LT(relative_error(found[i].first_moment, expected[i].first_moment), 1e-6) << i;
      EXPECT_LT(relative_error(found[i].second_moment, expected[i].second_moment), 1e-6) << i;
    }
  });
}

TEST(Adam, HasTheSameBitsForAnyThreadsAndInstructionSet) {
  const std::vector<AdamTensors> all = some();
  const std::vector<AdamTensors> first = updated(all);
  on_every_target([&] {
    for (const int threads : {1, 2, 3}) {
      const ThreadScope scope(threads);
      EXPECT_TRUE(equal(updated(all), first)) << threads;
    }
  });
}

TEST(Adam, ATensorsUpdateDoesNotDependOnItsNeighbors) {
  const std::vector<AdamTensors> all = some();
  const std::vector<AdamTensors> together = updated(all);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(equal(updated({all[i]}), {together[i]})) << i;
  }
}

TEST(Adam, AbsentGradientIsAGradientOfZero) {
  AdamTensors zero = tensors_of({1001}, 1, plain);
  zero.gradient = torch::zeros({1001});
  AdamTensors absent = zero;
  absent.gradient = torch::Tensor();
  EXPECT_TRUE(equal(updated({zero}), updated({absent})));
  const std::vector<AdamTensors> reference = copies({zero, absent}, torch::kFloat64);
  for (const AdamTensors& each : reference) adam_reference(each);
  EXPECT_TRUE(equal({reference[0]}, {reference[1]}));
}

TEST(Adam, StridedGradientsAreReadInTheOrderOfTheValue) {
  AdamTensors strided = tensors_of({40, 30}, 1, plain);
  strided.gradient = drawn({30, 40}, 9).t();
  AdamTensors contiguous = strided;
  contiguous.gradient = strided.gradient.contiguous();
  EXPECT_TRUE(equal(updated({strided}), updated({contiguous})));
}

TEST(Adam, EveryUpdateRaisesTheVersionOfTheValue) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const std::vector<AdamTensors> all = copies({tensors_of({5}, 1, plain)}, type);
    const auto before = all[0].value._version();
    adam(all);
    EXPECT_GT(all[0].value._version(), before) << type;
  }
}

TEST(SumOfSquares, AgreesWithTheReferenceForAllSizes) {
  std::vector<torch::Tensor> tensors{{}};
  for (const AdamTensors& each : some()) tensors.push_back(each.value);
  tensors.push_back(drawn({40, 30}, 3).t());
  tensors.push_back(drawn({17}, 4).to(torch::kFloat64));
  on_every_target([&] {
    const double found = sum_of_squares(tensors);
    EXPECT_NEAR(found / sum_of_squares_reference(tensors), 1, 1e-13);
    const ReferenceKernels scope;
    EXPECT_EQ(sum_of_squares(tensors), sum_of_squares_reference(tensors));
  });
  EXPECT_EQ(sum_of_squares({}), 0);
}

TEST(SumOfSquares, HasTheSameBitsForAnyThreads) {
  std::vector<torch::Tensor> tensors;
  for (const AdamTensors& each : some()) tensors.push_back(each.value);
  const ThreadScope one(1);
  const double alone = sum_of_squares(tensors);
  for (const int threads : {2, 3}) {
    const ThreadScope scope(threads);
    EXPECT_EQ(sum_of_squares(tensors), alone) << threads;
  }
}

TEST(SumOfSquares, IsFiniteExactlyWhenEveryElementIs) {
  on_every_target([] {
    std::vector<torch::Tensor> tensors{torch::full({70001}, 3e38F), torch::ones({3})};
    EXPECT_TRUE(std::isfinite(sum_of_squares(tensors)));
    for (const double bad : {INFINITY, -INFINITY, NAN}) {
      for (const int64_t place : {0, 32768, 70000}) {
        const torch::Tensor hurt = tensors[0].clone();
        hurt[place] = bad;
        const std::vector<torch::Tensor> with{tensors[1], hurt};
        EXPECT_FALSE(std::isfinite(sum_of_squares(with))) << bad << ' ' << place;
      }
    }
  });
}

}  // namespace
}  // namespace ballast
