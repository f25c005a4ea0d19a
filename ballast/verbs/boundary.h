#pragma once

#include <functional>
#include <string_view>

namespace ballast {

/// What to lower when memory runs out, by what a verb does.
inline constexpr std::string_view lower_for_training =
    "lower train.batch_tokens (train.accumulate makes up for it), set train.recompute = true, or "
    "make the model smaller";
inline constexpr std::string_view lower_for_decoding =
    "lower decode.batch_tokens or decode.beam, or --threads";
inline constexpr std::string_view lower_for_generating =
    "lower generate.batch or generate.max_new_tokens, or shorten the prompts";
inline constexpr std::string_view lower_for_reading = "read less text at once, or free memory";

/// Carries out the work of a verb and lets nothing of the libraries behind it reach a user: what
/// they throw becomes one line, a ResourceError where memory or threads ran out (`remedy` says what
/// to lower). Where they would end the process, it ends with one line and exit code 1.
void at_boundary(std::string_view remedy, const std::function<void()>& work);

}  // namespace ballast
