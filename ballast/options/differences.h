#pragma once

#include <string>
#include <vector>

#include "ballast/options/schema_of.h"

namespace ballast {

/// An option in which two structs differ: its dotted name and both values as in TOML.
struct Difference {
  std::string name, first, second;

  bool operator==(const Difference&) const = default;
};

/// All options in which the structs at `first` and `second` differ, in the order of their list.
/// Choices of different kinds differ in `name.kind` alone; lists differ as a whole, and so does an
/// optional that only one of them has. Values are equal when their texts are. `schema` is a
/// table's; RecipeError as in `toml_text`.
std::vector<Difference> differences(const Schema& schema, const void* first, const void* second);

template <HasFields Options>
std::vector<Difference> differences(const Options& first, const Options& second) {
  return differences(schema_of<Options>(), &first, &second);
}

}  // namespace ballast
