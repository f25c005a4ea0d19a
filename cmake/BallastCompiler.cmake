# Flags of our own targets. -fPIC everywhere, since a precompiled header serves only code with the same
# flags. Floating-point contraction stays off so that a result does not depend on
# which loop the compiler happened to fuse.
add_library(ballast_flags INTERFACE)
target_compile_options(ballast_flags INTERFACE -Wall -Wextra -Werror -fPIC
                       -ffp-contract=off)
# Vector code is compiled once per remaining target. The sizeless vectors of SVE and RVV cannot be
# kept in arrays, and SSSE3 and AVX3_DL gain nothing over their neighbours.
target_compile_definitions(ballast_flags INTERFACE
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")

find_program(BALLAST_CCACHE ccache)
if(BALLAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BALLAST_CCACHE})
endif()
# ccache can store a precompiled header's users only if they do not depend on its time stamps.
set(CMAKE_PCH_WARN_INVALID ON)
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

if(BALLAST_TIDY)
  find_program(BALLAST_CLANG_TIDY clang-tidy REQUIRED)
endif()
