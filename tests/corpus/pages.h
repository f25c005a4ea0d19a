#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ballast {

/// A folder of its own for one test, removed at its end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "help-pages-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  /// Writes `bytes` to a file below the folder.
  std::filesystem::path write(const std::string& file, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file, std::ios::binary) << bytes;
    return path_ / file;
  }

  /// Writes a help page with this body.
  std::filesystem::path page(const std::string& file, const std::string& body) const {
    return write(file, "<!DOCTYPE html>\n<html><head><title>T</title></head><body>" + body +
                           "</body></html>\n");
  }

 private:
  std::filesystem::path path_;
};

inline std::string paragraph(const std::string& id, const std::string& text) {
  return "<p id=\"" + id + "\">" + text + "</p>";
}

inline std::vector<std::string> lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> found;
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

}  // namespace ballast
