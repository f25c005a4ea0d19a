#include "ballast/store/safetensors_header.h"

#include <gmock/gmock.h>

#include <string>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

void expect_refused(const std::string& header, const std::string& reason, uint64_t data = 0) {
  EXPECT_THAT([&] { parse_header(header, data, "a.safetensors"); },
              ThrowsMessage<StoreError>(AllOf(StartsWith("a.safetensors: "), HasSubstr(reason))));
}

TEST(SafeTensorsHeader, AHeaderThatIsNoStrictJsonObjectIsRefused) {
  expect_refused("", "does not start with '{'");
  expect_refused(" {}", "does not start with '{'");
  expect_refused("[]", "does not start with '{'");
  expect_refused("{\"a\":", "not valid JSON");
  expect_refused("{\"\xff\":1}", "not valid JSON");
  expect_refused("{}{}", "not valid JSON");
  expect_refused(R"({"a":{"shape":[[1]]}})", "nests deeper");
  std::string long_shape = "1";
  for (int i = 0; i < 64; ++i) long_shape += ",1";
  expect_refused("{\"a\":{\"shape\":[" + long_shape + "]}}", "more than 64 values");
}

TEST(SafeTensorsHeader, AKeyGivenTwiceIsRefused) {
  const std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_refused("{\"a\":" + entry + ",\"a\":" + entry + "}", "key \"a\" twice", 1);
  expect_refused(R"({"a":{"dtype":"U8","dtype":"I8"}})", "key \"dtype\" twice");
  expect_refused(R"({"__metadata__":{"k":"1","k":"2"}})", "key \"k\" twice");
}

TEST(SafeTensorsHeader, MetadataMustBeStrings) {
  expect_refused(R"({"__metadata__":{"k":1}})", "metadata \"k\" is not a string");
  expect_refused(R"({"__metadata__":[]})", "__metadata__ is not an object");
}

TEST(SafeTensorsHeader, AnEntryThatIsNoTensorIsRefused) {
  expect_refused(R"({"a":3})", "entry of tensor \"a\" is not an object");
  expect_refused(R"({"a":{"dtype":"F8_E5M2"}})", "type \"F8_E5M2\"; expected one of");
  expect_refused(R"({"a":{"dtype":"U8"}})", "no list \"shape\"");
  expect_refused(R"({"a":{"dtype":"U8","shape":[-1]}})", "whole numbers");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1.5]}})", "whole numbers");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1]}})", "no list \"data_offsets\"");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", "has 1 data_offsets");
}

TEST(SafeTensorsHeader, ARangeThatIsNotTheTensorsIsRefused) {
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[2,1]}})",
                 "begins at byte 2 and ends before it, at 1", 2);
  expect_refused(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,23]}})",
                 "type F32 and shape [2, 3] needs 24 bytes but has 23", 23);
}

TEST(SafeTensorsHeader, AShapeThatOverflowsIsRefused) {
  const auto header = [](const std::string& shape) {
    return "{\"a\":{\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[0,0]}}";
  };
  expect_refused(header("4611686018427387904"), "more bytes than can be counted");
  expect_refused(header("4294967296,4294967296"), "more bytes than can be counted");
  expect_refused(header("0,4294967296,4294967296"), "more bytes than can be counted");
  expect_refused(header("18446744073709551615"), "more than can be counted");
  expect_refused(header("18446744073709551616"), "whole numbers");
}

TEST(SafeTensorsHeader, DataMustBeCoveredOnceAndWholly) {
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}";
  };
  expect_refused(two("[0,2]", "[1,3]"), "\"a\" and \"b\" overlap at byte 1", 3);
  expect_refused(two("[3,5]", "[0,2]"), "bytes 2 to 3 before tensor \"a\"", 5);
  expect_refused(two("[1,3]", "[3,5]"), "bytes 0 to 1 before tensor \"a\"", 5);
  expect_refused(two("[0,2]", "[2,4]"), "truncated: 3 bytes of data", 3);
  expect_refused(two("[0,2]", "[2,4]"), "last 2 bytes belong to no tensor", 6);
}

}  // namespace
}  // namespace ballast
