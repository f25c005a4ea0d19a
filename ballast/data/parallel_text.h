#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ballast {

/// Sentences and their translations: `source[i]` belongs to `target[i]`.
struct ParallelText {
  std::vector<std::string> source, target;
  int64_t dropped_one_empty = 0;   ///< pairs left out because one side was blank
  int64_t dropped_both_empty = 0;  ///< pairs left out because both sides were

  int64_t size() const { return static_cast<int64_t>(source.size()); }
};

/// True when there is nothing but ASCII white space.
bool is_blank(std::string_view text);

/// Reads files of sentences whose lines correspond, `sources[i]` with `targets[i]`, all into one
/// text. A pair with a blank side is dropped as a pair and counted, so nothing ever shifts.
/// Raises DataError when two files that belong together differ in their number of lines, with both
/// counts and the first line without a partner, and what `LineReader` raises.
ParallelText read_parallel(std::span<const std::filesystem::path> sources,
                           std::span<const std::filesystem::path> targets);

}  // namespace ballast
