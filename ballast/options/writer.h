#pragma once

#include <string>

#include "ballast/options/schema_of.h"

namespace ballast {

/// The struct at `value` as TOML that reads back equal: every option in the order of its list, a
/// table `[a.b]` for every struct, a choice as `{ kind = "x", ... }` where that fits in the line
/// and as a table otherwise, an unset optional as "none". Raises RecipeError for what would not
/// read back: text that is not UTF-8, a whole number beyond int64, an optional whose value is
/// "none". Floats are the shortest that read back as the same double.
std::string toml_text(const Schema& schema, const void* value);

/// A value on one line, as in TOML; tables and choices as inline tables. RecipeError as above.
std::string inline_text(const Schema& schema, const void* value);

template <HasFields Options>
std::string toml_text(const Options& options) {
  return toml_text(schema_of<Options>(), &options);
}

}  // namespace ballast
