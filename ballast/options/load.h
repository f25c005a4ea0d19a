#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ballast/options/document.h"
#include "ballast/options/schema_of.h"

namespace ballast {

/// An options struct as read, and where each of its options was given.
template <HasFields Options>
struct Loaded {
  Options value;
  Places places;
};

/// The text of a recipe file. Raises RecipeError for a file that is missing, a folder, empty,
/// unreadable, or larger than 1 MiB.
std::string read_recipe_file(const std::filesystem::path& path);

/// The document of `text` with the overrides set; raises RecipeError when it is not valid TOML.
/// `source` names the text in messages.
Document open_recipe(std::string_view text, const std::string& source,
                     std::span<const std::string> overrides);

/// Sets what the document names in the struct at `value`; raises one RecipeError with all problems,
/// one a line.
void read_or_raise(const Document& document, const Schema& schema, void* value);

/// Reads `text` over the defaults of `Options`, then `overrides` (`train.steps=200`). Raises one
/// RecipeError for all that is wrong; mistakes of syntax come alone, for nothing behind them was
/// read.
template <HasFields Options>
Loaded<Options> read_text(std::string_view text, const std::string& source,
                          std::span<const std::string> overrides = {}) {
  const Document document = open_recipe(text, source, overrides);
  Loaded<Options> loaded{Options{}, Places(document)};
  read_or_raise(document, schema_of<Options>(), &loaded.value);
  return loaded;
}

/// `read_text` of a file, see `read_recipe_file`. The error's text has all problems, one a line,
/// with line and column.
template <HasFields Options>
Loaded<Options> load(const std::filesystem::path& path,
                     std::span<const std::string> overrides = {}) {
  return read_text<Options>(read_recipe_file(path), path.string(), overrides);
}

}  // namespace ballast
