#include "ballast/options/schema.h"

#include <fmt/format.h>

#include <algorithm>

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

bool takes_word(const Schema& schema, std::string_view word) {
  std::vector<std::string> words;
  if (const auto* choice = std::get_if<ChoiceSchema>(&schema.form)) words = choice->names();
  if (const auto* scalar = std::get_if<ScalarSchema>(&schema.form)) words = scalar->words;
  return std::find(words.begin(), words.end(), word) != words.end();
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
