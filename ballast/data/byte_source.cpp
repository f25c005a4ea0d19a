#include "ballast/data/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "ballast/base/error.h"

namespace ballast {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t buffer_size = 1 << 16;
constexpr std::string_view gzip_magic = "\x1f\x8b"sv;
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd"sv;

struct Foreign {
  std::string_view magic, name;
};
constexpr std::array foreign_formats{
    Foreign{"\xfd\x37zXZ\0"sv, "xz data"}, Foreign{"PK\x03\x04"sv, "a zip archive"},
    Foreign{"BZh91A"sv, "bzip2 data"},     Foreign{"\xff\xfe"sv, "UTF-16 text"},
    Foreign{"\xfe\xff"sv, "UTF-16 text"},
};

[[noreturn]] void refuse(const std::string& file, std::string_view found,
                         std::string_view remedy = "get the file again") {
  throw DataError(fmt::format("{}: {}; {}", file, found, remedy));
}

/// The bytes as they lie in the file, through a buffer whose front can be looked at first.
class RawSource : public ByteSource {
 public:
  explicit RawSource(const std::filesystem::path& file)
      : name_(file == "-" ? "standard input" : file.string()),
        descriptor_(file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      refuse(name_, fmt::format("cannot be opened: {}", std::strerror(errno)),
             "check the path and its permissions");
    }
    struct stat facts {};
    if (::fstat(descriptor_, &facts) == 0 && S_ISDIR(facts.st_mode)) {
      close();
      refuse(name_, "is a directory", "name a file");
    }
  }
  RawSource(const RawSource&) = delete;
  RawSource& operator=(const RawSource&) = delete;
  ~RawSource() override { close(); }

  const std::string& name() const { return name_; }

  /// The front of the data; longer by one read, unless the data ends, where `more` says so.
  template <class More>
  std::string_view peek(const More& more) {
    while (more(front()) && refill() > 0) {
    }
    return front();
  }

  /// What is buffered, read anew when nothing is; empty at the end of the file.
  std::span<char> chunk() {
    if (begin_ == end_) {
      begin_ = end_ = 0;
      refill();
    }
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }
  void consume(std::size_t count) { begin_ += count; }
  int64_t taken() const override { return read_ - static_cast<int64_t>(end_ - begin_); }

  std::size_t read(std::span<char> buffer) override {
    const auto front = chunk();
    const std::size_t count = std::min(front.size(), buffer.size());
    std::copy_n(front.begin(), count, buffer.begin());
    consume(count);
    return count;
  }

  bool ready() override {
    if (begin_ < end_ || ended_) return true;
    pollfd facts{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&facts, 1, 0) != 0;
  }

 private:
  std::string_view front() const { return {buffer_.data() + begin_, end_ - begin_}; }

  std::size_t refill() {
    if (ended_) return 0;  // a terminal would have to be told so again
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      refuse(name_, fmt::format("cannot be read: {}", std::strerror(errno)),
             "check the disk and the permissions");
    }
    ended_ = count == 0;
    read_ += count;
    end_ += static_cast<std::size_t>(count);
    return static_cast<std::size_t>(count);
  }

  void close() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }

  std::string name_;
  int descriptor_;
  std::vector<char> buffer_ = std::vector<char>(buffer_size);
  std::size_t begin_ = 0, end_ = 0;
  int64_t read_ = 0;
  bool ended_ = false;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<RawSource> raw) : raw_(std::move(raw)) {
    constexpr int window_of_gzip_only = 15 + 16;
    if (inflateInit2(&stream_, window_of_gzip_only) != Z_OK) throw std::bad_alloc();
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  bool ready() override { return raw_->ready(); }
  int64_t taken() const override { return raw_->taken(); }

  std::size_t read(std::span<char> buffer) override {
    for (;;) {
      if (member_ended_ && !next_member()) return 0;
      const auto packed = raw_->chunk();
      if (packed.empty()) refuse(raw_->name(), "the gzip data ends too early (truncated)");
      const std::size_t count = inflate_some(packed, buffer);
      if (count > 0) return count;
    }
  }

 private:
  std::size_t inflate_some(std::span<char> packed, std::span<char> buffer) {
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), 1 << 30));
    const auto room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    raw_->consume(packed.size() - stream_.avail_in);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      refuse(raw_->name(), fmt::format("the gzip data is damaged ({})",
                                       stream_.msg != nullptr ? stream_.msg : "invalid stream"));
    }
    member_ended_ = status == Z_STREAM_END;
    return room - stream_.avail_out;
  }

  /// Steps over the zeros that tapes leave behind; false at the end of the file.
  bool next_member() {
    for (auto rest = raw_->chunk(); !rest.empty(); rest = raw_->chunk()) {
      const auto zeros = std::find_if(rest.begin(), rest.end(), [](char c) { return c != 0; });
      raw_->consume(static_cast<std::size_t>(zeros - rest.begin()));
      if (zeros == rest.end()) continue;
      inflateReset(&stream_);
      member_ended_ = false;
      return true;
    }
    return false;
  }

  std::unique_ptr<RawSource> raw_;
  z_stream stream_{};
  bool member_ended_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<RawSource> raw)
      : raw_(std::move(raw)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!stream_) throw std::bad_alloc();
  }

  bool ready() override { return raw_->ready(); }
  int64_t taken() const override { return raw_->taken(); }

  std::size_t read(std::span<char> buffer) override {
    for (;;) {
      const auto packed = raw_->chunk();
      if (packed.empty() && frame_ended_) return 0;
      ZSTD_inBuffer in{packed.data(), packed.size(), 0};
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
      raw_->consume(in.pos);
      if (ZSTD_isError(status) != 0) {
        refuse(raw_->name(),
               fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(status)));
      }
      frame_ended_ = status == 0;
      if (out.pos > 0) return out.pos;
      if (packed.empty()) refuse(raw_->name(), "the zstd data ends too early (truncated)");
    }
  }

 private:
  std::unique_ptr<RawSource> raw_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  bool frame_ended_ = false;
};

/// Whether more bytes could make a format of this front that it is not yet. Nothing else is waited
/// for: whoever asks for a translation of "a" may wait for the answer.
bool is_undecided(std::string_view front) {
  const auto may_become = [&](std::string_view magic) {
    return front.size() < magic.size() && magic.starts_with(front);
  };
  return may_become(gzip_magic) || may_become(zstd_magic) ||
         std::ranges::any_of(foreign_formats,
                             [&](const Foreign& foreign) { return may_become(foreign.magic); });
}

/// True when `front` starts with the magic, or is a shorter front of it in a file named like one.
bool is_format(std::string_view front, std::string_view magic, bool named) {
  if (front.size() >= magic.size()) return front.starts_with(magic);
  return named && magic.starts_with(front);
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file) {
  auto raw = std::make_unique<RawSource>(file);
  const auto front = raw->peek(is_undecided);
  for (const Foreign& foreign : foreign_formats) {
    if (front.starts_with(foreign.magic)) {
      refuse(raw->name(), fmt::format("is {}", foreign.name),
             "expected UTF-8 text, plain or packed by gzip or zstd; convert it first");
    }
  }
  if (is_format(front, gzip_magic, file.extension() == ".gz")) {
    return std::make_unique<GzipSource>(std::move(raw));
  }
  if (is_format(front, zstd_magic, file.extension() == ".zst")) {
    return std::make_unique<ZstdSource>(std::move(raw));
  }
  return raw;
}

}  // namespace ballast
