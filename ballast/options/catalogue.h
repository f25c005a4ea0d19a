#pragma once

#include <string>
#include <vector>

#include "ballast/options/schema_of.h"

namespace ballast {

/// One kind of a choice that the options hold.
struct CatalogueEntry {
  std::string list;  ///< the option that it can be, for example "model.residual"
  KindInfo info;
  const TableSchema* options = nullptr;
};

/// Every kind of every choice in a table of options, in the order of its options. A choice that
/// serves several options is listed where it first occurs.
std::vector<CatalogueEntry> catalogue(const Schema& schema);

}  // namespace ballast
