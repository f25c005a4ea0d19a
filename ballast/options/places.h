#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ballast/options/document.h"

namespace ballast {

/// Remembers where every option was given, for messages that come after reading.
class Places {
 public:
  explicit Places(const Document& document);

  /// The place of `model.heads`, else that of the nearest table around it, else the whole source.
  const Place& of(std::string_view name) const;

  /// True when the recipe or an override gives this option.
  bool given(std::string_view name) const;

 private:
  void add(const std::string& owner, const TomlTable& table);

  Place whole_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace ballast
