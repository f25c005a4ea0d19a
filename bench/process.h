#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ballast::bench {

/// Peak resident memory of this program, in bytes. Unlike what `getrusage` says of a child, it
/// contains nothing of the process that started this one.
int64_t peak_resident();

/// The processor's name, as the kernel gives it.
std::string processor_name();

/// Lets OpenBLAS compute with this many threads; does nothing where there is another BLAS.
void set_blas_threads(int count);

/// Another run of this program, which answers questions. Each side of a comparison has a process of
/// its own, so that neither meets the other's threads, environment or memory.
class Peer {
 public:
  /// `environment` holds NAME=VALUE to add. Raises std::runtime_error when no process can be had.
  Peer(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Waits for the answer. Raises std::runtime_error when the process has ended instead.
  nlohmann::json ask(const nlohmann::json& question);

 private:
  int process_ = 0, socket_ = -1;
  std::string pending_;  // read, but beyond the last answer
};

/// The other end: answers until nobody asks any more.
void serve(const std::function<nlohmann::json(const nlohmann::json&)>& answer);

/// Runs the body of a program, and prints what it throws as the `ballast` program would.
int guarded(const char* program, const std::function<void()>& body);

}  // namespace ballast::bench
