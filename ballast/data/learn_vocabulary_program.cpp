#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "ballast/data/frames.h"

// Learns a vocabulary, or tries a model, for a process that must outlive SentencePiece's own checks
// (which end the process) and a model with damage inside. See `learned_model` and `check_model`.

namespace ballast {
namespace {

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;

void answer(std::string_view kind, std::string_view text) {
  const std::string bytes = frame_of(kind) + frame_of(text);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = ::write(STDIN_FILENO, rest.data(), rest.size());
    if (sent <= 0) std::_Exit(1);
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void answer(const Status& status, std::string_view text) {
  status.ok() ? answer(answer_ok, text) : answer(answer_error, status.ToString());
}

/// The sentences as they come in.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  Sentences() { Next(); }
  bool done() const override { return done_; }
  void Next() override { done_ = !read_frame(stdin, value_); }
  const std::string& value() const override { return value_; }
  Status status() const override { return {}; }

 private:
  std::string value_;
  bool done_ = false;
};

void learn() {
  std::unordered_map<std::string, std::string> settings;
  std::string name, value;
  while (read_frame(stdin, name) && !name.empty() && read_frame(stdin, value)) {
    settings.emplace(name, value);
  }
  Sentences sentences;
  std::string model;
  const Status status = SentencePieceTrainer::Train(settings, &sentences, &model);
  answer(status, model);
}

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  if (code < 0x10000) {
    put(0xe0 | code >> 12);
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f));
  }
  put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
}

/// Encodes every character of the first planes, several together, so that every way through the
/// normalisation's and the vocabulary's tables that begins with one is gone.
Status encode_all_characters(const SentencePieceProcessor& model) {
  constexpr unsigned end = 0x30000, surrogates = 0xd800, after_surrogates = 0xe000, together = 64;
  std::vector<int> ids;
  std::string text;
  for (unsigned code = 1; code < end; ++code) {
    if (code == surrogates) code = after_surrogates;
    append_utf8(text, code);
    if (code % together != together - 1) continue;
    const Status status = model.Encode(text, &ids);
    if (!status.ok()) return status;
    text.clear();
  }
  return {};
}

/// Spells every piece and cuts it into pieces again.
Status use_all_pieces(const SentencePieceProcessor& model) {
  std::vector<int> ids;
  for (int id = 0; id < model.GetPieceSize(); ++id) {
    std::string text;
    Status status = model.Decode(std::vector<int>{id}, &text);
    if (status.ok()) status = model.Encode(text + model.IdToPiece(id), &ids);
    if (!status.ok()) return status;
    for (const int found : ids) {
      if (found < 0 || found >= model.GetPieceSize()) std::_Exit(1);
    }
  }
  return {};
}

void check() {
  std::string serialized;
  read_frame(stdin, serialized);
  SentencePieceProcessor model;
  Status status = model.LoadFromSerializedProto(serialized);
  if (status.ok()) status = use_all_pieces(model);
  if (status.ok()) status = encode_all_characters(model);
  answer(status, "");
}

}  // namespace
}  // namespace ballast

int main() {
  using namespace ballast;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string request;
  try {
    if (!read_frame(stdin, request)) return 1;
    request == check_request ? check() : learn();
  } catch (const std::bad_alloc&) {
    answer(answer_memory, "");
  } catch (const std::exception& error) {
    answer(answer_error, error.what());
  }
  return 0;
}
