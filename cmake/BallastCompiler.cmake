# Flags of our own targets. -fPIC everywhere, since a precompiled header serves only code with the same
# flags. Floating-point contraction stays off so that a result does not depend on
# which loop the compiler happened to fuse. Nobody reads errno after a root, and without it loops
# with roots become vector code.
add_library(ballast_flags INTERFACE)
target_compile_options(ballast_flags INTERFACE -Wall -Wextra -Werror
                       -Wno-missing-field-initializers -Wno-maybe-uninitialized -fPIC -ffp-contract=off -fno-math-errno)

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
