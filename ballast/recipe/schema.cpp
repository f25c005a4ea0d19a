#include "ballast/recipe/schema.h"

#include <fmt/format.h>

namespace ballast {

std::vector<std::string> TableSchema::names() const {
  std::vector<std::string> found;
  for (const OptionSchema& option : options) found.emplace_back(option.name);
  return found;
}

std::vector<std::string> ChoiceSchema::names() const {
  std::vector<std::string> found;
  for (const KindSchema& kind : kinds) found.emplace_back(kind.info.name);
  return found;
}

const Schema& without_optional(const Schema& schema) {
  const auto* optional = std::get_if<OptionalSchema>(&schema.form);
  return optional ? without_optional(optional->inner()) : schema;
}

const TableSchema& table_of(SchemaSource source) { return std::get<TableSchema>(source().form); }

const void* address_of(const OptionSchema& option, const void* owner) {
  return static_cast<const std::byte*>(owner) + option.offset;
}

void* address_of(const OptionSchema& option, void* owner) {
  return static_cast<std::byte*>(owner) + option.offset;
}

std::string joined_name(std::string_view owner, std::string_view name) {
  return owner.empty() ? std::string(name) : fmt::format("{}.{}", owner, name);
}

}  // namespace ballast
