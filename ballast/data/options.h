#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ballast/base/choice.h"
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

/// What is one document of a plain text file. A JSON-lines file (`.jsonl`, also packed) always has
/// one a line.
enum class Documents { lines, empty_lines, file };

template <>
struct EnumNames<Documents> {
  static constexpr std::array<std::pair<std::string_view, Documents>, 3> value{{
      {"lines", Documents::lines},
      {"empty_lines", Documents::empty_lines},
      {"file", Documents::file},
  }};
};

/// Which positions a document's first token has that stands behind another in its context and may
/// not attend to it: 0 again, or the next one.
enum class DocumentPositions { restart, go_on };

template <>
struct EnumNames<DocumentPositions> {
  static constexpr std::array<std::pair<std::string_view, DocumentPositions>, 2> value{{
      {"restart", DocumentPositions::restart},
      {"go_on", DocumentPositions::go_on},
  }};
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
  Documents documents = Documents::lines;
  std::string json_field = "text";
  bool cross_documents = true;
  DocumentPositions document_positions = DocumentPositions::restart;
  std::vector<double> mixture;

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
        field("documents", &D::documents,
              "what is a document of a language model's plain text: a line, what stands between "
              "empty lines, or a file; .jsonl files have one a line"),
        field("json_field", &D::json_field, "where a line of a .jsonl file holds its text"),
        field("cross_documents", &D::cross_documents,
              "whether tokens of a context attend to other documents in it"),
        field("document_positions", &D::document_positions,
              "without cross_documents: restart at 0 in every document, or go_on through the "
              "context"),
        field("mixture", &D::mixture,
              "a weight for each file of train: its share of the contexts of a pass is its weight "
              "over the sum of all; empty: every context once a pass"),
    };
  }

  bool operator==(const DataOptions&) const = default;
};

}  // namespace ballast
