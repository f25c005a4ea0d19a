#include "ballast/recipe/text_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "ballast/recipe/vocabularies.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

/// Empty when nothing is wrong.
std::string problem_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error || !fs::exists(status)) {
    return error && error != std::errc::no_such_file_or_directory
               ? fmt::format("cannot be looked at: {}", error.message())
               : "is not there; paths are relative to the recipe's folder, else to the working "
                 "directory";
  }
  if (fs::is_directory(status)) return "is a folder; name a file in it";
  if (!fs::is_regular_file(status)) {
    return "is a pipe or a device, but a recipe's text is read more than once; write it to a file "
           "first (gzip and zstd are read as they are)";
  }
  if (::access(file.c_str(), R_OK) != 0) {
    return fmt::format("cannot be read: {}", std::generic_category().message(errno));
  }
  if (fs::file_size(file, error) == 0 && !error) return "is empty; expected lines of text";
  return {};
}

void check(const std::string& option, const std::string& file, std::vector<Contradiction>& found) {
  const std::string text = problem_of(file);
  if (!text.empty()) found.push_back({option, fmt::format("{}: {} {}", option, file, text)});
}

}  // namespace

std::vector<Contradiction> text_file_problems(const Recipe& recipe) {
  std::vector<Contradiction> found;
  const std::pair<const char*, const std::vector<std::string>&> lists[] = {
      {"data.train", recipe.data.train},
      {"data.valid", recipe.data.valid},
      {"data.test", recipe.data.test}};
  for (const auto& [name, files] : lists) {
    for (const std::string& file : files) check(name, file, found);
  }
  return found;
}

std::vector<Contradiction> vocabulary_file_problems(const Recipe& recipe) {
  std::vector<Contradiction> found;
  DataOptions data = recipe.data;
  for (const std::string* file : vocabulary_files(data)) {
    if (!file->empty()) check("data.tokenizer", *file, found);
  }
  return found;
}

}  // namespace ballast
