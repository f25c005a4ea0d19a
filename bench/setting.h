#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"

namespace ballast::bench {

/// How libtorch shares the cores with OpenBLAS, which brings a thread pool of its own, and what
/// pages its memory has. Idle threads of either pool spin for a while and slow the other one down,
/// so it depends on model and machine which way is fastest.
struct Setting {
  std::string name;
  std::vector<std::string> environment;  ///< NAME=VALUE
  bool all_blas_threads = false;         ///< OpenBLAS computes with as many threads as libtorch
};

/// What the `ballast` program does.
Setting our_setting();

/// The setting with the least `seconds`: of two that keep the pools out of each other's way, each
/// with small pages and with the huge ones that the C library asks for on request.
Setting best_stock_setting(const std::function<double(const Setting&)>& seconds);

/// A process of this program with these arguments and this setting.
std::unique_ptr<Peer> side_process(std::vector<std::string> arguments, const Setting& setting);

}  // namespace ballast::bench
