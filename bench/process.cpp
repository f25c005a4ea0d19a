#include "bench/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "ballast/base/error.h"

namespace ballast::bench {
namespace {

/// The rest of the first line of `file` that starts with `key`, without separators.
std::string field_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

void set_blas_threads(int count) {
  using SetThreads = void (*)(int);
  const auto set_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads) set_threads(count);
}

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(descriptor, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int output) {
  dup2(output, STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  execv("/proc/self/exe", words.data());
  _exit(127);
}

}  // namespace

int64_t peak_resident() { return std::stoll("0" + field_of("/proc/self/status", "VmHWM")) * 1024; }

std::string output_of_self(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::array<int, 2> pipe_ends;
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe to be had");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no further process to be had");
  if (child == 0) become(words, pipe_ends[1]);
  close(pipe_ends[1]);
  const std::string text = all_of(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("a run of this program within this program failed");
  return text;
}

std::string processor_name() {
  const std::string name = field_of("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

BlasThreads::BlasThreads(int count) { set_blas_threads(count); }
BlasThreads::~BlasThreads() { set_blas_threads(1); }

int guarded(const char* program, const std::function<int()>& body) {
  constexpr int internal_error = 1, recipe_error = 2, data_error = 3;
  const auto report = [&](const std::exception& error, int code) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return code;
  };
  try {
    return body();
  } catch (const RecipeError& error) {
    return report(error, recipe_error);
  } catch (const Error& error) {
    return report(error, data_error);
  } catch (const std::exception& error) {
    return report(error, internal_error);
  }
}

}  // namespace ballast::bench
