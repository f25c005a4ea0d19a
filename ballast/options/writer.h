#pragma once

#include <string>

#include "ballast/options/schema_of.h"

namespace ballast {

/// The struct at `value` as TOML that reads back equal: every option in the order of its list, a
/// table `[a.b]` for every struct, a choice as `{ kind = "x", ... }` where that fits in the line
/// and as a table otherwise, an unset optional as "none". Raises RecipeError for text that is
/// not UTF-8.
std::string toml_text(const Schema& schema, const void* value);

/// A value on one line, as in TOML.
std::string inline_text(const Schema& schema, const void* value);

template <HasFields Options>
std::string toml_text(const Options& options) {
  return toml_text(schema_of<Options>(), &options);
}

}  // namespace ballast
