#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// Least number of edits from a hypothesis to a reference that Tercom's greedy search finds. An
/// edit is the insertion, deletion or substitution of a word, or a shift of a stretch of words; the
/// shift that saves most is made until none saves. Words are numbers. Snover et al. 2006,
/// section 3.
int64_t translation_edits(std::span<const uint32_t> hypothesis,
                          std::span<const uint32_t> reference);

}  // namespace ballast
