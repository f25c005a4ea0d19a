#pragma once

namespace ballast {

/// Of N(mean, std^2) conditioned on an interval.
struct TruncatedMoments {
  double mean = 0, variance = 0;
  double kept = 0;  ///< the probability of the interval
};

/// Moments of N(mean, std^2) conditioned on [low, high]; an end may be infinite.
///
/// With a = (low - mean)/std, b = (high - mean)/std, Z = Phi(b) - Phi(a):
/// mean + std (phi(a) - phi(b))/Z and std^2 (1 + (a phi(a) - b phi(b))/Z - ((phi(a)-phi(b))/Z)^2).
/// Nothing cancels: intervals may be narrow or lie in a far tail, where `kept` may be 0 while mean
/// and variance have all digits. Throws RecipeError for low >= high.
TruncatedMoments truncated_normal_moments(double mean, double std, double low, double high);

/// Share of the variance that a cut at +-c standard deviations keeps: 1 - 2 c phi(c)/(2 Phi(c) -
/// 1). c = 2 keeps 0.7737413, so a std of s needs an untruncated one of s / sqrt(0.7737413).
double truncation_share(double c);

/// The normal distribution that is cut.
struct NormalParent {
  double mean = 0, std = 1;
};

/// The N(mean, std^2) whose cut at `a` and `b` of its own standard deviations from its own mean has
/// the given mean and standard deviation. Throws RecipeError for a >= b.
NormalParent parent_cut_at(double a, double b, double mean, double std);

/// The N(mean, std^2) whose cut to the fixed [low, high] has the given mean and standard deviation;
/// an end may be infinite. Throws RecipeError when there is none: the mean lies outside, or the
/// interval holds nothing as wide (over a half-line an exponential distribution is the widest).
NormalParent parent_cut_to(double low, double high, double mean, double std);

}  // namespace ballast
