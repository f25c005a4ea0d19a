#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

namespace ballast {

/// Calls a function again and again in a thread of its own, at most `depth` results ahead of
/// whoever takes them. What the function throws comes out of the `next` that would have had its
/// result; nothing is called after that.
template <class T>
class Prefetch {
 public:
  Prefetch(std::function<T()> produce, std::size_t depth)
      : produce_(std::move(produce)),
        depth_(depth),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next result, waiting for it if need be. An exception comes again on every later call.
  T next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    if (auto* failure = std::get_if<std::exception_ptr>(&ready_.front())) {
      std::rethrow_exception(*failure);
    }
    T result = std::move(std::get<T>(ready_.front()));
    ready_.pop_front();
    changed_.notify_all();
    return result;
  }

 private:
  using Result = std::variant<T, std::exception_ptr>;

  Result attempt() {
    try {
      return produce_();
    } catch (...) {
      return std::current_exception();
    }
  }

  void run(const std::stop_token& stop) {
    for (bool goes_on = true; goes_on;) {
      Result result = attempt();
      goes_on = std::holds_alternative<T>(result);
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return ready_.size() < depth_; })) return;
      ready_.push_back(std::move(result));
      changed_.notify_all();
    }
  }

  std::function<T()> produce_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Result> ready_;
  std::jthread thread_;  // last, so that it has ended before the rest goes
};

}  // namespace ballast
