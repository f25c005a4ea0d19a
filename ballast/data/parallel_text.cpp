#include "ballast/data/parallel_text.h"

#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/data/text.h"

namespace ballast {
namespace {

void add(ParallelText& text, std::string_view source, std::string_view target) {
  const bool no_source = is_blank(source);
  const bool no_target = is_blank(target);
  if (no_source && no_target) {
    ++text.dropped_both_empty;
  } else if (no_source || no_target) {
    ++text.dropped_one_empty;
  } else {
    text.source.emplace_back(source);
    text.target.emplace_back(target);
  }
}

/// Raises the error of two files with different numbers of lines; `longer` has just returned the
/// first line without a partner.
[[noreturn]] void refuse_unequal(LineReader& longer, const LineReader& shorter) {
  const int64_t first = longer.line();
  while (longer.next()) {
  }
  throw DataError(fmt::format(
      "{} has {} lines, but {} has {}; line {} of the former is the first without a partner; "
      "expected files whose lines correspond one to one",
      longer.name(), longer.line(), shorter.name(), shorter.line(), first));
}

void read_pair(ParallelText& text, const std::filesystem::path& source_file,
               const std::filesystem::path& target_file) {
  if (source_file == "-" && target_file == "-") {
    throw DataError("source and target are both the standard input; name a file for one of them");
  }
  LineReader sources(source_file), targets(target_file);
  for (;;) {
    const auto source = sources.next();
    const auto target = targets.next();
    if (!source && !target) return;
    if (!target) refuse_unequal(sources, targets);
    if (!source) refuse_unequal(targets, sources);
    add(text, *source, *target);
  }
}

}  // namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

ParallelText read_parallel(std::span<const std::filesystem::path> sources,
                           std::span<const std::filesystem::path> targets) {
  if (sources.size() != targets.size()) {
    throw DataError(
        fmt::format("there are {} source files and {} target files; expected a target "
                    "file for every source file",
                    sources.size(), targets.size()));
  }
  ParallelText text;
  for (std::size_t i = 0; i < sources.size(); ++i) read_pair(text, sources[i], targets[i]);
  return text;
}

}  // namespace ballast
