#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ballast/base/fields.h"

namespace ballast {

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
