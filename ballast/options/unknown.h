#pragma once

#include <string>

#include "ballast/options/document.h"
#include "ballast/options/schema.h"

namespace ballast {

/// The table whose options are being read: its dotted name (empty for the recipe itself) and, where
/// it is a choice, the kind it holds.
struct Owner {
  std::string name;
  const ChoiceSchema* choice = nullptr;
  size_t kind = 0;
};

/// What to say of an entry that names no option of `table`: the nearest name, else the kind or the
/// table it belongs to, else all names.
std::string unknown_option(const Schema& root, const Owner& owner, const TableSchema& table,
                           const TomlEntry& entry);

}  // namespace ballast
