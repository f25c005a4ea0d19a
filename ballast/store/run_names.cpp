#include "ballast/store/run_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <regex>

#include "ballast/base/error.h"
#include "ballast/store/file.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view step_prefix = "step-";

constexpr std::array<std::string_view, 10> run_files{
    "recipe.toml",  "log.jsonl",           "best.json",    "summary.txt",
    "train.tokens", "train.tokens.chunks", "valid.tokens", "valid.tokens.chunks",
    "test.json",    "averaged.safetensors"};

constexpr std::array<std::string_view, 3> step_files{"model.safetensors", "optimizer.safetensors",
                                                     "state.json"};

bool is_file(std::string_view name) {
  static const std::regex numbered(R"(((source|target)\.)?tokenizer\.(model|txt|key)|)"
                                   R"(test\.[0-9]+\.hypothesis)");
  return std::ranges::find(run_files, name) != run_files.end() ||
         std::regex_match(name.begin(), name.end(), numbered);
}

/// The name that something unfinished was to get: `a` of `a.partial` and `a.7.partial`, and of the
/// `a.123.draft` that a cache of the text is written to.
std::optional<std::string> finished_name(const std::string& name) {
  static const std::regex form(R"((.+?)(\.[0-9]+)?\.partial|(.+)\.[0-9]+\.draft)");
  std::smatch found;
  if (!std::regex_match(name, found, form)) return std::nullopt;
  return found[1].matched ? found[1] : found[3];
}

std::vector<fs::directory_entry> entries_of(const fs::path& directory) {
  return checked(directory, [&] {
    std::vector<fs::directory_entry> found;
    for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry);
    return found;
  });
}

bool is_plain_file(const fs::directory_entry& entry) {
  return !entry.is_symlink() && entry.is_regular_file();
}

bool is_plain_folder(const fs::directory_entry& entry) {
  return !entry.is_symlink() && entry.is_directory();
}

bool is_step_file(const std::string& name) {
  const std::string wanted = finished_name(name).value_or(name);
  return std::ranges::find(step_files, wanted) != step_files.end();
}

bool says(const fs::path& file, std::string_view text) {
  return fs::is_regular_file(file) && size_of_file(file) == text.size() && read_file(file) == text;
}

}  // namespace

std::string step_name(int64_t step) { return fmt::format("{}{:08d}", step_prefix, step); }

std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(step_prefix)) return std::nullopt;
  int64_t step = -1;
  std::from_chars(name.data() + step_prefix.size(), name.data() + name.size(), step);
  return step >= 0 && step_name(step) == name ? std::optional(step) : std::nullopt;
}

bool is_of_a_run(std::string_view name) { return is_file(name) || step_of(name).has_value(); }

std::vector<std::string> names_of_a_run(const fs::path& directory) {
  std::vector<std::string> names;
  if (!checked(directory, [&] { return fs::exists(directory); })) return names;
  for (const auto& entry : entries_of(directory)) {
    const std::string name = entry.path().filename().string();
    if (is_of_a_run(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool is_run(const fs::path& directory) {
  return checked(directory, [&] {
    const fs::path lock = directory / lock_name;
    if (says(lock, lock_text)) return true;
    // Runs of earlier versions have an empty lock, and copies of a run may have none. Names that
    // anybody may choose, such as log.jsonl, tell nothing.
    const auto names = names_of_a_run(directory);
    const bool has_recipe = std::ranges::binary_search(names, "recipe.toml");
    const bool has_own = std::ranges::any_of(names, [](const std::string& name) {
      return step_of(name).has_value() || name.ends_with("tokenizer.key");
    });
    return has_recipe && (says(lock, "") || has_own);
  });
}

void remove_step_files(const fs::path& folder) {
  const bool there = checked(folder, [&] { return is_plain_folder(fs::directory_entry(folder)); });
  if (!there) return;
  for (const auto& entry : entries_of(folder)) {
    if (is_plain_file(entry) && is_step_file(entry.path().filename().string())) {
      checked(entry.path(), [&] { return fs::remove(entry.path()); });
    }
  }
  std::error_code not_empty;
  fs::remove(folder, not_empty);
}

fs::path unfinished_folder(const fs::path& step) {
  for (int i = 0;; ++i) {
    fs::path name = step;
    if (i > 0) name += fmt::format(".{}", i);
    name += partial_suffix;
    remove_step_files(name);
    if (!checked(name, [&] { return fs::exists(fs::symlink_status(name)); })) return name;
  }
}

void remove_unfinished(const fs::path& directory) {
  for (const auto& entry : entries_of(directory)) {
    const auto name = finished_name(entry.path().filename().string());
    if (!name) continue;
    if (step_of(*name)) remove_step_files(entry.path());
    if (is_file(*name) && is_plain_file(entry)) {
      checked(entry.path(), [&] { return fs::remove(entry.path()); });
    }
  }
}

}  // namespace ballast
