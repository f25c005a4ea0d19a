#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

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

}  // namespace ballast
