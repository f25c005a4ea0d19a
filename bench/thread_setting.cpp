#include "bench/thread_setting.h"

#include <fmt/format.h>

#include <limits>

namespace ballast::bench {

ThreadSetting our_threads() { return {"OpenBLAS with one thread", {}, false}; }

ThreadSetting best_stock_threads(const std::function<double(const ThreadSetting&)>& seconds) {
  const std::vector<ThreadSetting> settings{
      {"all threads in OpenBLAS, OMP_WAIT_POLICY=passive", {"OMP_WAIT_POLICY=passive"}, true},
      our_threads()};
  ThreadSetting best;
  double least = std::numeric_limits<double>::infinity();
  for (const ThreadSetting& each : settings) {
    const double found = seconds(each);
    fmt::print(stderr, "stock with {}: {:.3f} s\n", each.name, found);
    if (found >= least) continue;
    least = found;
    best = each;
  }
  return best;
}

std::unique_ptr<Peer> side_process(std::vector<std::string> arguments,
                                   const ThreadSetting& setting) {
  if (setting.all_blas_threads) arguments.emplace_back("--all-blas-threads");
  return std::make_unique<Peer>(arguments, setting.environment);
}

}  // namespace ballast::bench
