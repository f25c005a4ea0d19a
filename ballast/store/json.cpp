#include "ballast/store/json.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {

namespace {

/// The callback of the JSON library; the depth it is told counts the containers that are open.
class Guard {
 public:
  Guard(const JsonLimits& limits, std::string_view what) : limits_(limits), what_(what) {}

  bool operator()(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) open(depth);
    if (event == Event::object_end || event == Event::array_end) levels_.pop_back();
    if (event == Event::key) add_key(value.get_ref<const std::string&>());
    if (event == Event::value && !levels_.empty()) count(levels_.back());
    return true;
  }

 private:
  struct Level {
    std::set<std::string> keys;
    size_t values = 0;
  };

  void open(int depth) {
    if (depth >= limits_.depth) {
      throw StoreError(fmt::format("{} nests deeper than {} levels", what_, limits_.depth));
    }
    levels_.emplace_back();
  }

  void add_key(const std::string& key) {
    if (!levels_.back().keys.insert(key).second) {
      throw StoreError(fmt::format("{} has the key \"{}\" twice", what_, key));
    }
  }

  void count(Level& level) {
    const bool is_list = level.keys.empty();
    if (is_list && ++level.values > limits_.list_length) {
      throw StoreError(
          fmt::format("{} has a list of more than {} values", what_, limits_.list_length));
    }
  }

  JsonLimits limits_;
  std::string_view what_;
  std::vector<Level> levels_;
};

}  // namespace

nlohmann::json parse_strict_json(std::string_view text, const JsonLimits& limits,
                                 std::string_view what) {
  if (!text.starts_with('{')) throw StoreError(fmt::format("{} does not start with '{{'", what));
  try {
    return nlohmann::json::parse(text, Guard(limits, what));
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("{} is not valid JSON ({})", what, error.what()));
  }
}

}  // namespace ballast
