#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "ballast/options/schema.h"

namespace ballast {

/// `a whole number`, `a list of numbers`, `a table`: what an option of this schema takes.
std::string expected_words(const Schema& schema);

/// `the string "x"`, `3.5`, `a table`: what a recipe gave.
std::string found_words(const toml::node& node);

/// `from 0 to 1`, `above 0`, `at least 1 and below 5`; empty when every number will do.
std::string bounds_words(const Bounds& bounds);

/// The shortest TOML float that reads back as the same double: `1.0`, `0.001`, `1e-05`, `inf`.
std::string number_text(double value);

/// The text as a cell of a Markdown table, whose rows every bar would split.
std::string markdown_cell(std::string_view text);

}  // namespace ballast
