#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/fields.h"
#include "ballast/data/masking_options.h"
#include "ballast/data/tokenizer_options.h"

namespace ballast {

/// Which sequences are too long, and what becomes of them.
struct LengthLimit {
  int64_t max_length = 250;
  bool truncate = false;

  static constexpr auto fields() {
    using L = LengthLimit;
    return std::tuple{
        field("max_length", &L::max_length, "tokens of a sentence, with its end", Bounds{.low = 2}),
        field("truncate", &L::truncate,
              "cut longer sentences instead of dropping the pair (which is counted)"),
    };
  }

  bool operator==(const LengthLimit&) const = default;
};

/// Where the text lies and how it becomes ids. A list for translation names pairs: source, target,
/// source, target, ...; a list for language models names plain files.
struct DataOptions {
  std::vector<std::string> train, valid, test;
  TokenizerChoice tokenizer;
  std::optional<TokenizerChoice> target_tokenizer;
  LengthLimit length;
  int64_t context = 512;
  MaskingOptions masking;

  static constexpr auto fields() {
    using D = DataOptions;
    return std::tuple{
        field("train", &D::train, "text files to learn from; pairs for translation"),
        field("valid", &D::valid, "text files that decide which step is best"),
        field("test", &D::test, "text files that are scored at the end"),
        field(
            "tokenizer", &D::tokenizer,
            "how text is cut into pieces: both sides by one vocabulary, learned from both, or the "
            "source alone where there is a target_tokenizer"),
        field("target_tokenizer", &D::target_tokenizer,
              "the target side's own vocabulary; absent: tokenizer"),
        field("length", &D::length, "which sentences are too long"),
        field("context", &D::context, "tokens of one sequence of a language model", at_least_one),
        field("masking", &D::masking, "which tokens a masked_lm has to find"),
    };
  }

  bool operator==(const DataOptions&) const = default;
};

}  // namespace ballast
