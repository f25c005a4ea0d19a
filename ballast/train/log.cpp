#include "ballast/train/log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "ballast/base/error.h"

namespace ballast {

namespace {

/// The step of a record; nothing when the JSON is not a record.
std::optional<int64_t> step_of(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto step = json.find("step");
  const bool is_record = step != json.end() && step->is_number_integer();
  return is_record ? std::optional(step->get<int64_t>()) : std::nullopt;
}

/// The records of a log up to and with a step, and what those of that step say.
struct Kept {
  std::string text;
  nlohmann::json last;
};

[[noreturn]] void refuse_line(const std::filesystem::path& path, int64_t number) {
  throw StoreError(
      fmt::format("{}:{}: is not a record of a log; expected {{\"step\":number,...}}; correct or "
                  "delete the line",
                  path.string(), number));
}

Kept records_until(std::string_view text, int64_t last, const std::filesystem::path& path) {
  Kept kept;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool cut_off = end == std::string_view::npos;
    const auto line = text.substr(0, cut_off ? end : end + 1);
    text.remove_prefix(line.size());
    const auto record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto step = step_of(record);
    if (!step && !text.empty()) refuse_line(path, number);
    if (!step || *step > last || cut_off) continue;
    kept.text += line;
    if (*step == last) kept.last.update(record);
  }
  return kept;
}

}  // namespace

RunLog::RunLog(std::filesystem::path path, int64_t resumed_step) : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    const auto text = read_file(path_);
    auto kept = records_until(text, resumed_step, path_);
    if (kept.text.size() != text.size()) write_file(path_, kept.text);
    resumed_ = std::move(kept.last);
  }
  file_ = open_file(path_, O_WRONLY | O_CREAT | O_APPEND);
}

void RunLog::append(int64_t step, const nlohmann::ordered_json& values) {
  nlohmann::ordered_json record{{"step", step}};
  record.update(values);
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_all(file_, record.dump(-1, ' ', /*ensure_ascii=*/false, replace) + '\n', path_);
}

void RunLog::sync() { ballast::sync(file_, path_); }

}  // namespace ballast
