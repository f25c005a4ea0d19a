#include "ballast/recipe/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

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

std::vector<std::string*> vocabulary_files(DataOptions& data) {
  std::vector<std::string*> files;
  const auto add = [&](auto& given) {
    if constexpr (requires { given.file; }) files.push_back(&given.file);
    if constexpr (requires { given.merges; }) files.push_back(&given.merges);
  };
  std::visit(add, data.tokenizer);
  if (data.target_tokenizer) std::visit(add, *data.target_tokenizer);
  return files;
}

std::vector<Contradiction> vocabulary_contradictions(const Recipe& recipe) {
  std::vector<Contradiction> found;
  const auto check = [&](const std::string& name, const TokenizerChoice& choice) {
    const bool lacks_file = std::visit(
        [](const auto& given) {
          if constexpr (requires { given.file; }) return given.file.empty();
          return false;
        },
        choice);
    if (!lacks_file) return;
    found.push_back({name, fmt::format("{0} = {{ kind = \"{1}\" }} names no file; add file = "
                                       "\"...\"",
                                       name, info_of(choice).name)});
  };
  check("data.tokenizer", recipe.data.tokenizer);
  if (!recipe.data.target_tokenizer) return found;
  check("data.target_tokenizer", *recipe.data.target_tokenizer);
  if (!recipe.model.shape().has_source) {
    found.push_back(
        {"data.target_tokenizer",
         "data.target_tokenizer is for translation; a language model has one text, whose "
         "vocabulary is data.tokenizer"});
  } else if (recipe.model.share_embeddings == EmbeddingSharing::all) {
    found.push_back({"model.share_embeddings",
                     "model.share_embeddings = \"all\" needs one vocabulary, but "
                     "data.target_tokenizer gives the target side its own; use \"auto\" or "
                     "\"target_output\""});
  }
  return found;
}

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
