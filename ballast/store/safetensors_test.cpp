#include "ballast/store/safetensors.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <torch/types.h>

#include <csignal>
#include <fstream>
#include <string>

#include "ballast/base/error.h"
#include "ballast/store/file.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string number_bytes(uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string with_header(const std::string& header, const std::string& data) {
  return number_bytes(header.size()) + header + data;
}

/// Limits the size of files this process can write, as a full disk does.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class SafeTensorsFile : public ::testing::Test {
 protected:
  void write_bytes(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  void expect_refused(const std::string& bytes, const std::string& reason) {
    write_bytes(bytes);
    EXPECT_THAT([this] { read_safetensors(path_); },
                ThrowsMessage<StoreError>(AllOf(HasSubstr(path_.string()), HasSubstr(reason))));
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "model.safetensors";
};

TEST_F(SafeTensorsFile, EveryTypeAndShapeComesBackAsItWas) {
  NamedTensors written;
  for (const auto dtype :
       {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
        torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool}) {
    const auto values = torch::arange(-3, 3).reshape({2, 3}).to(dtype);
    written.push_back({std::string("matrix of ") + torch::toString(dtype), values});
  }
  written.push_back({"scalar", torch::tensor(2.5)});
  written.push_back({"empty", torch::empty({0, 4})});
  written.push_back({"strided", torch::arange(6).reshape({2, 3}).t()});
  written.push_back({"trained", torch::ones({2}).requires_grad_()});
  write_safetensors(path_, written, {{"made by", "a \"test\" \n\x01 \xc3\xa9"}});

  const auto read = read_safetensors(path_);
  EXPECT_EQ(read.metadata.at("made by"), "a \"test\" \n\x01 \xc3\xa9");
  ASSERT_EQ(read.tensors.size(), written.size());
  for (const auto& [name, value] : written) {
    const auto back = tensor_named(read.tensors, name);
    EXPECT_EQ(back.scalar_type(), value.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(back, value)) << name;
  }
}

TEST_F(SafeTensorsFile, BytesAreThoseOfTheReferenceLibrary) {
  write_safetensors(path_,
                    {{"b", torch::ones({1}, torch::kUInt8)},
                     {"z", torch::tensor({1.0F})},
                     {"a", torch::tensor({2.0F})},
                     {"n", torch::tensor({3}, torch::kInt64)}},
                    {{"k", "v"}});
  // Derived from the format's README: tensors by falling alignment, then name; padded to 8 bytes.
  const std::string header =
      R"({"__metadata__":{"k":"v"},"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("z":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)"
      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}}      )";
  ASSERT_EQ(header.size() % 8, 0);
  const std::string data("\3\0\0\0\0\0\0\0\0\0\0\x40\0\0\x80\x3f\1", 17);
  EXPECT_EQ(read_file(path_), with_header(header, data));
}

TEST_F(SafeTensorsFile, NoTensorsIsAFileToo) {
  write_safetensors(path_, {});
  EXPECT_TRUE(read_safetensors(path_).tensors.empty());
}

TEST_F(SafeTensorsFile, NeitherAnEmptyTensorNorRankZeroIsRefused) {
  write_bytes(with_header(R"({"e":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
                          R"("s":{"dtype":"I8","shape":[],"data_offsets":[0,1]}})",
                          "\7"));
  const auto read = read_safetensors(path_);
  EXPECT_EQ(tensor_named(read.tensors, "e").sizes(), torch::IntArrayRef({0, 3}));
  EXPECT_EQ(tensor_named(read.tensors, "s").item<int>(), 7);
}

TEST_F(SafeTensorsFile, AByteThatIsNoBoolIsReadAsTrue) {
  write_bytes(with_header(R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})",
                          std::string("\0\x7f", 2)));
  EXPECT_TRUE(torch::equal(read_safetensors(path_).tensors[0].value,
                           torch::tensor({0, 1}).to(torch::kBool)));
}

TEST_F(SafeTensorsFile, ALengthThatCannotBeIsRefusedBeforeMemoryIsAskedFor) {
  expect_refused(std::string(3, '\1'), "truncated: 3 bytes");
  expect_refused(number_bytes(100'000'001), "header of 100000001 bytes");
  expect_refused(number_bytes(~0ULL) + "{}", "header of 18446744073709551615 bytes");
  expect_refused(number_bytes(99'999'999) + "{}", "truncated: its header of 99999999 bytes");
}

TEST_F(SafeTensorsFile, EveryTruncationOfAGoodFileIsRefused) {
  write_safetensors(path_, {{"a", torch::ones({3})}, {"b", torch::ones({2}, torch::kInt64)}});
  const std::string whole = read_file(path_);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_bytes(whole.substr(0, size));
    EXPECT_THROW(read_safetensors(path_), StoreError) << size;
  }
}

TEST_F(SafeTensorsFile, NoFlippedByteOfTheHeaderCrashes) {
  const NamedTensors one{{"a", torch::ones({3})}};
  write_safetensors(path_, one, {{"k", "v"}});
  const std::string whole = read_file(path_);
  for (size_t place = 0; place + one[0].value.nbytes() < whole.size(); ++place) {
    for (const char mask : {1, 4, 32, -128}) {
      std::string changed = whole;
      changed[place] = static_cast<char>(changed[place] ^ mask);
      write_bytes(changed);
      try {
        EXPECT_LE(read_safetensors(path_).tensors.size(), 1);
      } catch (const StoreError&) {
      }
    }
  }
}

TEST_F(SafeTensorsFile, WhatIsNoFileIsRefused) {
  EXPECT_THAT([this] { read_safetensors(path_); },
              ThrowsMessage<StoreError>(HasSubstr("No such file")));
  EXPECT_THAT([this] { read_safetensors(directory_.path()); },
              ThrowsMessage<StoreError>(HasSubstr("not a regular file")));
  EXPECT_THAT([] { read_safetensors("/dev/zero"); },
              ThrowsMessage<StoreError>(HasSubstr("not a regular file")));
}

TEST_F(SafeTensorsFile, WhatTheFormatCannotHoldIsRefused) {
  const auto write = [this](NamedTensors tensors) { write_safetensors(path_, tensors); };
  const auto one = torch::ones({1});
  EXPECT_THAT(
      [&] {
        write({{"c", torch::ones({1}, torch::kComplexFloat)}});
      },
      ThrowsMessage<StoreError>(HasSubstr("tensor \"c\" is")));
  EXPECT_THAT(
      [&] {
        write({{"s", torch::eye(2).to_sparse()}});
      },
      ThrowsMessage<StoreError>(HasSubstr("tensor \"s\" is")));
  EXPECT_THAT(
      [&] {
        write({{"u", torch::Tensor()}});
      },
      ThrowsMessage<StoreError>(HasSubstr("\"u\" has no value")));
  EXPECT_THAT(
      [&] {
        write({{"a", one}, {"a", one}});
      },
      ThrowsMessage<StoreError>(HasSubstr("cannot be called \"a\"")));
  EXPECT_THAT(
      [&] {
        write({{"__metadata__", one}});
      },
      ThrowsMessage<StoreError>(HasSubstr("cannot be called \"__metadata__\"")));
  EXPECT_THAT([&] { write({{"\xff", one}}); }, ThrowsMessage<StoreError>(HasSubstr("not UTF-8")));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(SafeTensorsFile, AFullDiskLeavesTheOldFileAndNothingElse) {
  write_safetensors(path_, {{"a", torch::ones({3})}});
  const std::string before = read_file(path_);
  {
    const FullDisk disk(4096);
    EXPECT_THAT(
        [this] {
          write_safetensors(path_, {{"a", torch::ones({4096})}});
        },
        ThrowsMessage<StoreError>(
            AllOf(HasSubstr(path_.string()), HasSubstr("cannot write: File too large"))));
  }
  EXPECT_EQ(read_file(path_), before);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".partial"));
}

TEST_F(SafeTensorsFile, AFailedRenameLeavesNothingBehind) {
  std::filesystem::create_directories(path_ / "in the way");
  EXPECT_THAT(
      [this] {
        write_safetensors(path_, {{"a", torch::ones({3})}});
      },
      ThrowsMessage<StoreError>(HasSubstr("Is a directory")));
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".partial"));
}

TEST_F(SafeTensorsFile, APlaceThatCannotBeWrittenIsNamed) {
  EXPECT_THAT([this] { write_safetensors(directory_ / "none/x", {}); },
              ThrowsMessage<StoreError>(HasSubstr("cannot open: No such file or directory")));
  EXPECT_THAT([] { write_safetensors("/proc/x", {}); },
              ThrowsMessage<StoreError>(HasSubstr("/proc/x")));
}

TEST_F(SafeTensorsFile, ALinkPlantedAtTheUnfinishedNameIsNotFollowed) {
  write_file(directory_ / "victim", "precious");
  std::filesystem::create_symlink(directory_ / "victim", path_.string() + ".partial");
  write_safetensors(path_, {{"a", torch::ones({3})}});
  EXPECT_EQ(read_file(directory_ / "victim"), "precious");
}

}  // namespace
}  // namespace ballast
