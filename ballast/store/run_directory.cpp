#include "ballast/store/run_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "ballast/base/error.h"
#include "ballast/store/file.h"
#include "ballast/store/json.h"
#include "ballast/store/run_names.h"
#include "ballast/store/safetensors.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view model_name = "model.safetensors";
constexpr std::string_view optimizer_name = "optimizer.safetensors";
constexpr std::string_view state_name = "state.json";
constexpr std::string_view best_name = "best.json";

nlohmann::json read_json(const fs::path& path) {
  try {
    return nlohmann::json::parse(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("{}: is not valid JSON ({})", path.string(), error.what()));
  }
}

std::string dump(const nlohmann::json& json, const fs::path& path) {
  try {
    return json.dump(2) + "\n";
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("{}: cannot be written ({})", path.string(), error.what()));
  }
}

}  // namespace

RunDirectory RunDirectory::open_or_create(const fs::path& path) {
  RunDirectory run(path);
  run.lock_.emplace(path);
  if (run.lock_->found_run()) remove_unfinished(path);
  return run;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  if (!checked(path, [&] { return fs::is_directory(path); })) {
    throw StoreError(
        fmt::format("{}: is not a run directory; expected one that `ballast train` "
                    "wrote",
                    path.string()));
  }
  return RunDirectory(path);
}

void RunDirectory::check_writable() const {
  if (!lock_) throw StoreError(fmt::format("{}: is open for reading only", path_.string()));
}

fs::path RunDirectory::step_directory(int64_t step) const { return path_ / step_name(step); }

fs::path RunDirectory::model_file(int64_t step) const { return step_directory(step) / model_name; }

std::vector<int64_t> RunDirectory::steps() const {
  std::vector<int64_t> steps;
  checked(path_, [&] {
    for (const auto& entry : fs::directory_iterator(path_)) {
      const auto step = step_of(entry.path().filename().string());
      if (step && entry.is_directory()) steps.push_back(*step);
    }
  });
  std::ranges::sort(steps);
  return steps;
}

std::optional<int64_t> RunDirectory::last_complete_step() const {
  const auto all = steps();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

void RunDirectory::save_step(int64_t step, const NamedTensors& model, const NamedTensors& optimizer,
                             const nlohmann::json& state) {
  check_writable();
  const auto complete = step_directory(step);
  if (checked(complete, [&] { return fs::exists(complete); })) {
    throw StoreError(fmt::format("{}: exists already; delete it to save step {} again",
                                 complete.string(), step));
  }
  const auto partial = unfinished_folder(complete);
  try {
    checked(partial, [&] { return fs::create_directory(partial); });
    write_safetensors(partial / model_name, model, model_metadata(step));
    write_safetensors(partial / optimizer_name, optimizer);
    write_file(partial / state_name, dump(state, complete / state_name));
    rename_durably(partial, complete);
  } catch (...) {
    try {
      remove_step_files(partial);
    } catch (const StoreError&) {
      // The first error says more.
    }
    throw;
  }
}

void RunDirectory::check_saved(int64_t step) const {
  const auto all = steps();
  if (std::ranges::binary_search(all, step)) return;
  throw StoreError(fmt::format("{}: has no step {}; it has {}", path_.string(), step,
                               all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "))));
}

std::string RunDirectory::way_back(int64_t damaged) const {
  const auto all = steps();
  const auto here = std::ranges::lower_bound(all, damaged);
  const auto directory = step_directory(damaged).string();
  if (here == all.begin()) {
    return fmt::format("no step before {} was kept; delete {} to start afresh", damaged, directory);
  }
  return fmt::format("step {} was kept: delete {} to go on from there", *std::prev(here),
                     directory);
}

SavedStep RunDirectory::load_step(int64_t step) const {
  check_saved(step);
  const auto directory = step_directory(step);
  try {
    return {.model = read_safetensors(directory / model_name).tensors,
            .optimizer = read_safetensors(directory / optimizer_name).tensors,
            .state = read_json(directory / state_name)};
  } catch (const StoreError& error) {
    throw StoreError(fmt::format("{}; {}", error.what(), way_back(step)));
  }
}

NamedTensors RunDirectory::load_model(int64_t step) const {
  check_saved(step);
  return read_safetensors(model_file(step)).tensors;
}

/// Under the name of something unfinished first, so that no step is ever there in part.
void RunDirectory::discard_step(int64_t step) {
  const auto partial = unfinished_folder(step_directory(step));
  rename_durably(step_directory(step), partial);
  remove_step_files(partial);
}

void RunDirectory::prune(int64_t keep) {
  check_writable();
  auto old = steps();
  const auto kept = std::min<int64_t>(std::max<int64_t>(keep, 1), std::ssize(old));
  old.resize(old.size() - static_cast<size_t>(kept));
  const auto favorite = best();
  for (const int64_t step : old) {
    if (!favorite || favorite->step != step) discard_step(step);
  }
}

void RunDirectory::set_best(const BestStep& best) {
  check_saved(best.step);
  if (!std::isfinite(best.value)) {
    throw StoreError(fmt::format("{}: step {} cannot be the best with {} = {}", path_.string(),
                                 best.step, best.metric, best.value));
  }
  write_text(best_name, dump(json_of(best), file(best_name)));
}

std::optional<BestStep> RunDirectory::best() const {
  const auto path = file(best_name);
  if (!checked(path, [&] { return fs::exists(path); })) return std::nullopt;
  const auto json = read_json(path);
  try {
    return from_json_fields<BestStep>(json);
  } catch (const nlohmann::json::exception&) {
    throw StoreError(
        fmt::format("{}: expected {{\"step\": number, \"metric\": text, \"value\": "
                    "number}}; delete it to forget the best step",
                    path.string()));
  }
}

void RunDirectory::write_text(std::string_view name, std::string_view text) {
  check_writable();
  write_file(file(name), text);
}

void RunDirectory::remove_text(std::string_view name) {
  check_writable();
  checked(file(name), [&] { return fs::remove(file(name)); });
}

std::string RunDirectory::read_text(std::string_view name) const { return read_file(file(name)); }

}  // namespace ballast
