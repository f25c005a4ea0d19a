#include "ballast/options/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "ballast/base/error.h"
#include "ballast/options/reader.h"

namespace ballast {
namespace {

constexpr size_t largest_recipe = size_t{1} << 20;

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view why) {
  throw RecipeError(fmt::format("{}: {}", path.string(), why));
}

void raise_any(std::vector<Problem> problems) {
  if (!problems.empty()) throw RecipeError(text_of(std::move(problems)));
}

}  // namespace

std::string read_recipe_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, "no such file, expected a recipe (TOML)");
  if (std::filesystem::is_directory(status)) {
    refuse(path, "is a folder, expected a recipe; name the file in it, such as recipe.toml");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text(largest_recipe + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse(path, "cannot be read to its end");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > largest_recipe) refuse(path, "is larger than 1 MiB, expected a recipe (TOML)");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    refuse(path, "is empty, expected a recipe (TOML)");
  }
  return text;
}

Document open_recipe(std::string_view text, const std::string& source,
                     std::span<const std::string> overrides) {
  Document document = parse_document(text, source);
  raise_any(document.problems);
  return with_overrides(std::move(document), overrides);
}

void read_or_raise(const Document& document, const Schema& schema, void* value) {
  raise_any(read_document(document, schema, value));
}

}  // namespace ballast
