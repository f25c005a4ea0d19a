#include "ballast/options/places.h"

#include "ballast/options/schema.h"

namespace ballast {

Places::Places(const Document& document) : whole_{document.source} { add("", document.root); }

void Places::add(const std::string& owner, const TomlTable& table) {
  for (const TomlEntry& entry : table) {
    const std::string name = joined_name(owner, entry.name);
    places_.emplace(name, entry.place);
    if (const auto* inner = std::get_if<TomlTable>(&entry.node.value)) add(name, *inner);
  }
}

const Place& Places::of(std::string_view name) const {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? whole_ : of(name.substr(0, dot));
}

bool Places::given(std::string_view name) const { return places_.contains(name); }

}  // namespace ballast
