#pragma once

namespace ballast {

/// Mean and variance of N(mean, std^2) conditioned on an interval.
struct TruncatedMoments {
  double mean = 0, variance = 0;
};

/// Moments of N(mean, std^2) conditioned on [low, high]; an end may be infinite.
///
/// With a = (low - mean)/std, b = (high - mean)/std, Z = Phi(b) - Phi(a):
/// mean + std (phi(a) - phi(b))/Z and std^2 (1 + (a phi(a) - b phi(b))/Z - ((phi(a)-phi(b))/Z)^2).
TruncatedMoments truncated_normal_moments(double mean, double std, double low, double high);

/// Share of the variance that a cut at +-c standard deviations keeps: 1 - 2 c phi(c)/(2 Phi(c) -
/// 1). c = 2 keeps 0.7737413, so a std of s needs an untruncated one of s / sqrt(0.7737413).
double truncation_share(double c);

}  // namespace ballast
