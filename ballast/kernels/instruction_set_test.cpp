#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "ballast/kernels/comparison.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ballast/kernels/instruction_set_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ballast::HWY_NAMESPACE {
namespace {

int64_t compiled_for() { return HWY_TARGET; }

}  // namespace
}  // namespace ballast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ballast {
namespace {

HWY_EXPORT(compiled_for);

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What these tests are capped to: "AVX2", "generic", or nothing.
std::string highway_cap() { return environment("BALLAST_TEST_HIGHWAY_TARGETS"); }

/// Takes away all targets above the cap; those have the lower bits. False for a word it lacks.
bool cap_highway() {
  if (highway_cap() == "AVX2") hwy::DisableTargets(HWY_AVX2 - 1);
  if (highway_cap() == "generic") hwy::DisableTargets(HWY_STATIC_TARGET - 1);
  return highway_cap().empty() || highway_cap() == "AVX2" || highway_cap() == "generic";
}

/// Highway, asked for this, chooses the best target of the processor whatever the cap; the next
/// dispatch has to choose anew.
int64_t supported_targets() {
  const int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().DeInit();
  return targets;
}

TEST(InstructionSet, OfVectorCodeIsTheOneItIsCappedTo) {
  if (highway_cap().empty()) GTEST_SKIP() << "not capped";
  const int64_t expected = highway_cap() == "AVX2" ? HWY_AVX2 : HWY_STATIC_TARGET;
  if ((supported_targets() & expected) == 0) GTEST_SKIP() << "not in this processor";
  EXPECT_STREQ(hwy::TargetName(HWY_DYNAMIC_DISPATCH(compiled_for)()), hwy::TargetName(expected));
}

TEST(InstructionSet, OfMatrixProductsIsTheOneTheyAreCappedTo) {
  const std::string cap = environment("ONEDNN_MAX_CPU_ISA");
  if (cap.empty()) GTEST_SKIP() << "not capped";
  struct Known {
    const char* cap;
    dnnl::cpu_isa isa;
    bool here;
  };
  const std::array<Known, 4> all{
      {{"SSE41", dnnl::cpu_isa::sse41, bool(__builtin_cpu_supports("sse4.1"))},
       {"AVX2", dnnl::cpu_isa::avx2, bool(__builtin_cpu_supports("avx2"))},
       {"AVX512_CORE", dnnl::cpu_isa::avx512_core, bool(__builtin_cpu_supports("avx512bw"))},
       {"AVX512_CORE_BF16", dnnl::cpu_isa::avx512_core_bf16,
        bool(__builtin_cpu_supports("avx512bf16"))}}};
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Known& k) { return cap == k.cap; });
  if (known == all.end()) GTEST_SKIP() << "nothing is expected of " << cap;
  if (!known->here) GTEST_SKIP() << "not in this processor";
  EXPECT_EQ(dnnl::get_effective_cpu_isa(), known->isa) << cap;
}

TEST(InstructionSet, TestsRunOnSeveralWhereNothingIsCapped) {
  if (!highway_cap().empty()) GTEST_SKIP() << "capped";
  int targets = 0;
  on_every_target([&] { ++targets; });
  EXPECT_GE(targets, 2);
}

}  // namespace
}  // namespace ballast

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!ballast::cap_highway()) {
    std::cerr << "BALLAST_TEST_HIGHWAY_TARGETS is none of AVX2, generic\n";
    return 2;
  }
  return RUN_ALL_TESTS();
}
#endif
