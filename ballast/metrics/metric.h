#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// What each line adds to the sums that a score is made of: one row a line.
struct LineStatistics {
  size_t width = 0;
  std::vector<double> values;

  size_t lines() const { return values.size() / width; }
  std::span<const double> line(size_t index) const {
    return std::span(values).subspan(index * width, width);
  }
  std::vector<double> sums() const;
};

/// The numbers that a score is worked out with. sacreBLEU leaves its significance tests to numpy
/// (version 2), which rounds otherwise than Python's own numbers; equal tests need equal roundings.
enum class Arithmetic {
  plain,    ///< float64 throughout
  integer,  ///< float64, but sums are whole numbers and stay so: add-k's k is cut to them
  single,   ///< every operation on a sum rounds to float32
};

struct Scored {
  double value = 0;
  bool single = false;  ///< numpy has it as float32
};

/// How a significance test drew its samples; part of the signature.
struct Resampling {
  enum class Kind { bootstrap, approximate_randomization };
  Kind kind = Kind::bootstrap;
  int64_t samples = 1000;
  std::string seed = "12345";  ///< `none`: another one each time
};

/// A corpus metric with its options: the steps from lines to a score that BLEU, chrF and TER share,
/// so that tests of significance need not know which of them they test.
struct Metric {
  std::string key;   ///< `bleu`, `chrf`, `ter`
  std::string name;  ///< `BLEU`, `chrF2++`, `TER`

  /// `references[r][line]`. Throws `DataError` when the numbers of lines differ.
  std::function<LineStatistics(std::span<const std::string> hypotheses,
                               std::span<const std::vector<std::string>> references)>
      statistics;

  /// The score, 0 to 100 (TER can exceed it), of lines whose statistics have these sums.
  std::function<Scored(std::span<const double> sums, Arithmetic)> score;

  /// sacreBLEU's signature; `resampling` may be null.
  std::function<std::string(size_t references, const Resampling* resampling)> signature;
};

/// Throws `DataError`, naming both counts, unless every reference has `hypotheses` lines and there
/// is at least one reference.
void check_line_counts(size_t hypotheses, std::span<const std::vector<std::string>> references);

/// Line `line` of every reference.
std::vector<std::string_view> references_of_line(
    std::span<const std::vector<std::string>> references, size_t line);

/// The release of sacreBLEU whose numbers the metrics equal; signatures name it.
inline constexpr std::string_view sacrebleu_version = "2.6.0";

/// `nrefs:1|bs:1000|seed:12345|OPTIONS|version:2.6.0`; null `resampling`: without its two fields.
std::string sacrebleu_signature(size_t references, const Resampling* resampling,
                                std::string_view options);

}  // namespace ballast
