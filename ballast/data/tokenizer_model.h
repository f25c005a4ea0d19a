#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/data/tokenizer.h"

namespace ballast {

/// Ids with a meaning of their own; -1 for one that there is not.
struct TokenIds {
  int64_t size = 0, pad = -1, unknown = -1, begin = -1, end = -1;
};

/// What a `Tokenizer` is a handle of. Members are called with ids that the vocabulary has.
class TokenizerModel {
 public:
  virtual ~TokenizerModel() = default;
  virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  virtual std::string decode(std::span<const int64_t> ids) const = 0;
  virtual Piece piece(int64_t id) const = 0;

  const TokenIds& ids() const { return ids_; }
  const std::string& serialized() const { return serialized_; }

 protected:
  TokenIds ids_;
  std::string serialized_;
};

/// See `Tokenizer::from_model`.
std::shared_ptr<const TokenizerModel> sentencepiece_model(std::string serialized);

/// See `Tokenizer::from_words`.
std::shared_ptr<const TokenizerModel> word_model(std::span<const std::string> lines,
                                                 const std::string& name);

/// See `Tokenizer::from_json`.
std::shared_ptr<const TokenizerModel> byte_pair_model(std::string serialized,
                                                      const std::string& name);

}  // namespace ballast
