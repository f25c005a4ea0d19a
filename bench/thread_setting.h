#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"

namespace ballast::bench {

/// How libtorch shares the cores with OpenBLAS, which brings a thread pool of its own. Idle threads
/// of either pool spin for a while and slow the other one down, so it depends on model and machine
/// which way is fastest.
struct ThreadSetting {
  std::string name;
  std::vector<std::string> environment;  ///< NAME=VALUE
  bool all_blas_threads = false;         ///< OpenBLAS computes with as many threads as libtorch
};

/// What the `ballast` program does.
ThreadSetting our_threads();

/// The setting with the least `seconds`, of the two that keep the pools out of each other's way.
ThreadSetting best_stock_threads(const std::function<double(const ThreadSetting&)>& seconds);

/// A process of this program with these arguments and this setting.
std::unique_ptr<Peer> side_process(std::vector<std::string> arguments,
                                   const ThreadSetting& setting);

}  // namespace ballast::bench
