#include "ballast/store/average.h"

#include <gmock/gmock.h>
#include <torch/types.h>

#include <vector>

#include "ballast/base/error.h"
#include "ballast/store/safetensors.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Average : public ::testing::Test {
 protected:
  void add(const NamedTensors& tensors, std::optional<int64_t> step = {}) {
    files_.push_back(directory_ / std::to_string(files_.size()));
    write_safetensors(files_.back(), tensors, model_metadata(step));
  }

  TemporaryDirectory directory_;
  std::vector<std::filesystem::path> files_;
};

TEST_F(Average, IsTheMeanInTheTypeOfTheFiles) {
  for (const double value : {1.0, 2.0, 6.0}) {
    add({{"w", torch::full({2}, value)}, {"h", torch::full({1}, value, torch::kBFloat16)}});
  }
  const auto mean = average(files_).tensors;
  EXPECT_TRUE(torch::equal(tensor_named(mean, "w"), torch::full({2}, 3.0)));
  EXPECT_TRUE(torch::equal(tensor_named(mean, "h"), torch::full({1}, 3, torch::kBFloat16)));
}

TEST_F(Average, IsSummedInFloat64) {
  // In float32, and even more in bfloat16, 2^24 + 1 + 1 + ... stays 2^24.
  add({{"w", torch::full({1}, 16777216.0)}});
  for (int i = 0; i < 7; ++i) add({{"w", torch::full({1}, 1.0)}});
  EXPECT_EQ(average(files_).tensors[0].value.item<float>(),
            static_cast<float>((16777216.0 + 7) / 8));
}

TEST_F(Average, OfOneFileIsThatFile) {
  const auto value = torch::tensor({0.1F, -3e38F, 1e-40F});
  add({{"w", value}});
  EXPECT_TRUE(torch::equal(average(files_).tensors[0].value, value));
}

TEST_F(Average, TakesCountersFromTheLastFile) {
  for (const int64_t count : {3, 5, 4}) add({{"batches", torch::tensor({count})}});
  EXPECT_EQ(average(files_).tensors[0].value.item<int64_t>(), 4);
}

TEST_F(Average, HasTheLatestStepWhereAllSayOne) {
  const NamedTensors one{{"w", torch::ones({1})}};
  for (const int64_t step : {300, 500, 400}) add(one, step);
  EXPECT_EQ(step_of(average(files_), "mean"), 500);
  add(one);
  EXPECT_EQ(step_of(average(files_), "mean"), std::nullopt);
}

TEST_F(Average, NamesTheFirstDifference) {
  const auto refuses = [&](const NamedTensors& other, const char* what) {
    files_.clear();
    add({{"a", torch::ones({2})}, {"b", torch::ones({2})}});
    add(other);
    EXPECT_THAT([&] { average(files_); },
                ThrowsMessage<StoreError>(AllOf(HasSubstr(files_[1].string()), HasSubstr(what))));
  };
  const auto two = torch::ones({2});
  refuses({{"a", two}, {"b", torch::ones({3})}},
          "\"b\" Float [2] where the other has \"b\" Float [3]");
  refuses({{"a", two.to(torch::kHalf)}, {"b", two}},
          "\"a\" Float [2] where the other has \"a\" Half");
  refuses({{"a", two}}, "\"b\" Float [2] where the other has no more tensors");
  refuses({{"a", two}, {"c", two}}, "\"b\" Float [2] where the other has \"c\"");
  EXPECT_THROW(average({}), StoreError);
}

}  // namespace
}  // namespace ballast
