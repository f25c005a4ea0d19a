// What tools/tidy puts before every source. libtorch 1.13 names members of std::vector<c10::IValue>
// before IValue is complete. In C++20 they are constexpr, and clang then wants the complete type at
// once (g++ does not), so clang-tidy reads std::vector as it was before. What it is built on is
// constexpr already by then, with a declaration of __fill_a1 that <vector> would contradict. A
// constexpr constructor of what holds a vector is one in vain here, which -Wno-invalid-constexpr
// allows.
#pragma once

#include <memory>
#include <string>

#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#define __fill_a1 __fill_a1_of_bits
#include <vector>
#undef __fill_a1
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
