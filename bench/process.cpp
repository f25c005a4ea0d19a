#include "bench/process.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "ballast/base/error.h"

namespace ballast::bench {
namespace {

/// What follows `key` in the first line of `file` that starts with it, without separators.
std::string field_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& each : texts) result.push_back(const_cast<char*>(each.c_str()));
  return result;
}

}  // namespace

int64_t peak_resident() { return std::stoll("0" + field_of("/proc/self/status", "VmHWM")) * 1024; }

std::string processor_name() {
  const std::string name = field_of("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

void set_blas_threads(int count) {
  using SetThreads = void (*)(int);
  const auto set_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads) set_threads(count);
}

Peer::Peer(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = pointers(words), envp = pointers(environment);
  for (char** each = environ; *each != nullptr; ++each) envp.push_back(*each);
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error("no socket to be had");
  }
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no further process to be had");
  if (process_ == 0) {
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execve("/proc/self/exe", argv.data(), envp.data());
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
}

Peer::~Peer() {
  close(socket_);
  waitpid(process_, nullptr, 0);
}

nlohmann::json Peer::ask(const nlohmann::json& question) {
  const std::string line = question.dump() + "\n";
  const bool sent = send(socket_, line.data(), line.size(), MSG_NOSIGNAL) > 0;
  std::array<char, 65536> buffer;
  std::size_t end;
  while ((end = pending_.find('\n')) == std::string::npos) {
    const ssize_t got = sent ? read(socket_, buffer.data(), buffer.size()) : 0;
    if (got <= 0) throw std::runtime_error("the process of one side has ended too early");
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  nlohmann::json answer = nlohmann::json::parse(pending_.substr(0, end));
  pending_.erase(0, end + 1);
  return answer;
}

void serve(const std::function<nlohmann::json(const nlohmann::json&)>& answer) {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(nlohmann::json::parse(line)).dump() << std::endl;
  }
}

int guarded(const char* program, const std::function<void()>& body) {
  constexpr int internal_error = 1, recipe_error = 2, data_error = 3;
  const auto report = [&](const std::exception& error, int code) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return code;
  };
  try {
    body();
    return 0;
  } catch (const RecipeError& error) {
    return report(error, recipe_error);
  } catch (const Error& error) {
    return report(error, data_error);
  } catch (const std::exception& error) {
    return report(error, internal_error);
  }
}

}  // namespace ballast::bench
