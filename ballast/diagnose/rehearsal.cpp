#include "ballast/diagnose/rehearsal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ballast {
namespace {

double mean(const double* begin, int64_t count) {
  return std::accumulate(begin, begin + count, 0.0) / static_cast<double>(count);
}

}  // namespace

RehearsedLoss rehearsed_loss(const Rehearsal& rehearsal) {
  const std::vector<double>& losses = rehearsal.losses;
  const auto is_infinite = [](double x) { return !std::isfinite(x); };
  const auto finite = std::ranges::find_if(losses, is_infinite) - losses.begin();
  const auto count = static_cast<int64_t>(losses.size());
  const int64_t window = std::max<int64_t>(1, count / 10);
  if (finite < window) return {NAN, NAN, NAN};
  double lowest = INFINITY;
  for (int64_t i = 0; i + window <= finite; ++i) {
    lowest = std::min(lowest, mean(losses.data() + i, window));
  }
  const double last = finite == count ? mean(losses.data() + count - window, window) : NAN;
  return {losses.front(), lowest, last};
}

bool diverged(const Rehearsal& rehearsal, double rise) {
  const RehearsedLoss loss = rehearsed_loss(rehearsal);
  return !(loss.last <= loss.lowest + rise);
}

}  // namespace ballast
