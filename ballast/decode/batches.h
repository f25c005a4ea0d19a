#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ballast/decode/options.h"
#include "ballast/model/transformer.h"

namespace ballast {

/// Sources as ids with the end piece.
using Sources = std::vector<std::vector<int64_t>>;

/// Sources cut into batches of similar length.
struct SourceBatches {
  std::vector<size_t> order;  ///< places of the sources that have something to translate
  std::vector<std::span<const size_t>> batches;  ///< parts of `order`, longest sources first

  SourceBatches() = default;
  SourceBatches(SourceBatches&&) = default;
  SourceBatches& operator=(SourceBatches&&) = default;
};

/// As many batches as `options.batch_tokens` asks for, and equally many for each of `threads`
/// unless they became too small to fill a matrix product. A source of no id, or of the end piece
/// alone, is in none.
SourceBatches cut_batches(const Sources& sources, const DecodeOptions& options, int64_t threads);

/// The sources at these places, end to end.
Packed pack(const Sources& sources, std::span<const size_t> places, torch::Device device);

/// Evaluation mode and products of a precision for several models, until destroyed.
class ModelsAtWork {
 public:
  ModelsAtWork(std::span<Transformer* const> models, Precision precision);
  ~ModelsAtWork();
  ModelsAtWork(const ModelsAtWork&) = delete;
  ModelsAtWork& operator=(const ModelsAtWork&) = delete;

  std::span<const Transformer* const> models() const { return models_; }
  torch::Device device() const { return models_.front()->device(); }

  /// Batches that are best worked on at once: libtorch's threads on the CPU.
  int64_t threads() const;

 private:
  struct Scopes;

  std::vector<const Transformer*> models_;
  std::vector<std::unique_ptr<Scopes>> scopes_;
};

}  // namespace ballast
