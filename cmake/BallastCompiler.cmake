# Flags of our own targets. -fPIC everywhere, since a precompiled header serves only code with the same
# flags. Floating-point contraction stays off so that a result does not depend on
# which loop the compiler happened to fuse. Nobody reads errno after a root, and without it loops
# with roots become vector code.
# g++ 12 imagines strings of impossible length in the inlined code of std::string.
set(ballast_false_alarms -Wno-maybe-uninitialized
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-array-bounds;-Wno-restrict>)
add_library(ballast_flags INTERFACE)
target_compile_options(ballast_flags INTERFACE -Wall -Wextra -Werror
                       -Wno-missing-field-initializers -fPIC -ffp-contract=off -fno-math-errno
                       ${ballast_false_alarms})
# Vector code is compiled once per remaining target. The sizeless vectors of SVE and RVV cannot be
# kept in arrays, and SSSE3 and AVX3_DL gain nothing over their neighbours.
target_compile_definitions(ballast_flags INTERFACE
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")

find_program(BALLAST_CCACHE ccache)
if(BALLAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache keeps what uses a precompiled header only when told that time stamps do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${BALLAST_CCACHE})
endif()
set(CMAKE_PCH_WARN_INVALID ON)
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
