#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ballast::bench {

/// Peak resident memory of this program, in bytes. Unlike what `getrusage` says of a child, it
/// contains nothing of the process that started this one.
int64_t peak_resident();

/// What another run of this program with these arguments prints. Raises std::runtime_error when it
/// fails.
std::string output_of_self(const std::vector<std::string>& arguments);

/// The processor's name, as the kernel gives it.
std::string processor_name();

/// OpenBLAS computes with this many threads until the object is gone, then with one, as the program
/// sets it: its idle threads would spin beside libtorch's.
class BlasThreads {
 public:
  explicit BlasThreads(int count);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
};

/// Runs the body of a program, and prints what it throws as the `ballast` program would.
int guarded(const char* program, const std::function<int()>& body);

}  // namespace ballast::bench
