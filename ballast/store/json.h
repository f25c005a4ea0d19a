#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ballast/base/fields.h"

namespace ballast {

/// What a JSON text from outside may look like.
struct JsonLimits {
  int depth = 0;           ///< objects and lists inside each other
  size_t list_length = 0;  ///< values in a list
};

/// Parses an object and refuses, while it is read, what the JSON library would accept or silently
/// mend: a key given twice, nesting or lists beyond the limits. Throws StoreError; `what` names the
/// text in messages, such as "model.safetensors: the header".
nlohmann::json parse_strict_json(std::string_view text, const JsonLimits& limits,
                                 std::string_view what);

/// The fields of a plain struct of numbers as a JSON object, for `state.json`.
template <HasFields T>
nlohmann::json json_of(const T& value) {
  nlohmann::json made = nlohmann::json::object();
  for_each_field<T>([&](const auto& each) { made[std::string(each.name)] = value.*each.member; });
  return made;
}

/// The struct back from `json_of`. Throws nlohmann::json::exception when a field is missing.
template <HasFields T>
T from_json_fields(const nlohmann::json& object) {
  T made;
  for_each_field<T>(
      [&](const auto& each) { object.at(std::string(each.name)).get_to(made.*each.member); });
  return made;
}

}  // namespace ballast
