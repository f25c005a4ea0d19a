#include "ballast/decode/translation_stream.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>

namespace ballast {
namespace {

/// Sources that were read together, and what is known of them.
struct Window {
  int64_t first = 0;  ///< number of the first source
  Sources sources;
  std::vector<std::optional<Hypotheses>> found;
  size_t told = 0;
  SourceBatches cut;
};

struct Batch {
  Window* window;
  std::span<const size_t> places;
};

/// Of windows that are read before the first of them is told. More than two come up only where a
/// batch takes longer than whole windows after it.
constexpr size_t most_windows = 8;

class Stream {
 public:
  Stream(const ModelsAtWork& work, const SourceStream& in, const TranslationSink& out,
         const DecodeOptions& options, const SpecialIds& special)
      : work_(work), in_(in), out_(out), options_(options), special_(special) {}

  /// Nothing is in flight whenever this waits for a source.
  void run() {
    while (!ended_ || !queue_.empty()) {
      if (queue_.empty()) {
        read_window();
      } else if (queue_.size() == 1 || work_.threads() == 1) {
        translate_batch(*taken());
      } else {
        translate_side_by_side();
      }
    }
    if (reading_failed_) std::rethrow_exception(reading_failed_);
  }

 private:
  /// One batch for each of libtorch's threads, until there is nothing to read at once. A thread
  /// that found nothing is gone, so the others then finish what is read and leave too.
  void translate_side_by_side() {
    leaving_ = false;
    const auto threads = std::min<int64_t>(work_.threads(), static_cast<int64_t>(queue_.size()));
    at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
      try {
        while (const auto batch = next_batch()) translate_batch(*batch);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
        queue_.clear();
        throw;
      }
    });
  }

  std::optional<Batch> next_batch() {
    const std::lock_guard lock(mutex_);
    while (queue_.empty() && !leaving_ && may_read()) read_window();
    if (queue_.empty()) leaving_ = true;
    return taken();
  }

  bool may_read() const { return !ended_ && windows_.size() < most_windows && in_.ready(); }

  std::optional<Batch> taken() {
    if (queue_.empty()) return std::nullopt;
    const Batch batch = queue_.front();
    queue_.pop_front();
    return batch;
  }

  /// Waits for a source; takes what else there is at once, as far as a window goes.
  void read_window() {
    auto window = std::make_unique<Window>();
    window->first = read_;
    const int64_t most = stream_window_batches * options_.batch_tokens;
    int64_t tokens = 0;
    do {
      auto source = next_source();
      if (!source) break;
      tokens += std::max<int64_t>(static_cast<int64_t>(source->size()), 1) * options_.width();
      window->sources.push_back(std::move(*source));
    } while (tokens < most && in_.ready());
    read_ += static_cast<int64_t>(window->sources.size());
    if (!window->sources.empty()) enqueue(std::move(window));
  }

  std::optional<std::vector<int64_t>> next_source() {
    std::optional<std::vector<int64_t>> source;
    try {
      source = in_.next();
    } catch (...) {
      reading_failed_ = std::current_exception();
    }
    ended_ = !source;
    return source;
  }

  void enqueue(std::unique_ptr<Window> window) {
    window->found.assign(window->sources.size(), Hypotheses{});
    window->cut = cut_batches(window->sources, options_, work_.threads());
    for (const size_t place : window->cut.order) window->found[place].reset();
    for (const auto places : window->cut.batches) queue_.push_back({window.get(), places});
    windows_.push_back(std::move(window));
    tell();
  }

  void translate_batch(const Batch& batch) {
    const Packed sources = pack(batch.window->sources, batch.places, work_.device());
    std::vector<int64_t> numbers;
    for (const size_t place : batch.places) {
      numbers.push_back(batch.window->first + static_cast<int64_t>(place));
    }
    auto found = search({work_.models(), sources, numbers}, options_, special_);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < found.size(); ++i) {
      batch.window->found[batch.places[i]] = std::move(found[i]);
    }
    tell();
  }

  /// Hands out what is known of the first sources that have not been told; nothing any more once
  /// that has failed, for it would leave a hole.
  void tell() {
    if (telling_failed_) return;
    telling_failed_ = true;
    tell_known();
    telling_failed_ = false;
  }

  void tell_known() {
    while (!windows_.empty()) {
      Window& window = *windows_.front();
      for (; window.told < window.found.size(); ++window.told) {
        const auto& found = window.found[window.told];
        if (!found) return;
        out_(window.first + static_cast<int64_t>(window.told), *found);
      }
      windows_.pop_front();
    }
  }

  const ModelsAtWork& work_;
  const SourceStream& in_;
  const TranslationSink& out_;
  const DecodeOptions& options_;
  const SpecialIds& special_;

  std::mutex mutex_;  // of everything below, and of `in_` and `out_`
  std::deque<std::unique_ptr<Window>> windows_;
  std::deque<Batch> queue_;
  int64_t read_ = 0;
  bool ended_ = false, leaving_ = false, telling_failed_ = false;
  std::exception_ptr reading_failed_;
};

}  // namespace

void translate_stream(std::span<Transformer* const> models, const SourceStream& in,
                      const TranslationSink& out, const DecodeOptions& options,
                      const SpecialIds& special) {
  const ModelsAtWork work(models, options.precision);
  Stream(work, in, out, options, special).run();
}

}  // namespace ballast
