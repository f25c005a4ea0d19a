#pragma once

#include <chrono>
#include <string>

#include "ballast/data/encode_documents.h"

namespace ballast {

/// "train: 45 % read, 12.3M tokens, 1.20M tokens/s", a line of standard error that is rewritten
/// where that is a terminal, and gone with this.
class EncodingLine {
 public:
  explicit EncodingLine(std::string name);
  ~EncodingLine();
  EncodingLine(const EncodingLine&) = delete;
  EncodingLine& operator=(const EncodingLine&) = delete;

  void show(const EncodingProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  bool is_terminal_;
  bool is_open_ = false;
  int64_t first_ids_ = -1;  // that were there before, after a kill
  Clock::time_point begun_, shown_;
};

}  // namespace ballast
