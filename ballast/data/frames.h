#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace ballast {

/// Texts in a stream of bytes between a process and its helper: each is its length in eight bytes,
/// as the processor orders them, and then itself.
inline std::string frame_of(std::string_view text) {
  const uint64_t size = text.size();
  std::string frame(sizeof(size), '\0');
  std::memcpy(frame.data(), &size, sizeof(size));
  return frame.append(text);
}

/// The next text of the stream; false at its end, also in the middle of a text.
inline bool read_frame(std::FILE* stream, std::string& text) {
  uint64_t size = 0;
  if (std::fread(&size, sizeof(size), 1, stream) != 1) return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stream) == size;
}

/// Takes the next text off the front of `bytes`; false when it is not all there.
inline bool take_frame(std::string_view& bytes, std::string& text) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size() - sizeof(size)) return false;
  text = bytes.substr(sizeof(size), size);
  bytes.remove_prefix(sizeof(size) + size);
  return true;
}

// What a helper is asked for, and how its answer begins; one text follows (a model, or what was
// wrong).
inline constexpr std::string_view learn_request = "learn", check_request = "check";
inline constexpr std::string_view answer_ok = "ok", answer_error = "error",
                                  answer_memory = "memory";

}  // namespace ballast
