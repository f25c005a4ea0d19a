#pragma once

#include <string>

#include "ballast/options/schema_of.h"

namespace ballast {

/// A Markdown page that lists every option of the struct: each table with its options, their type,
/// default, range and meaning, then each choice with all its kinds, their formula, source and
/// options. A choice or table that serves several options is described where it first occurs.
std::string reference_page(const Schema& schema);

template <HasFields Options>
std::string reference_page() {
  return reference_page(schema_of<Options>());
}

}  // namespace ballast
