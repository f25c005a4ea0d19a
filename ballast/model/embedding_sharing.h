#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// Which tables are one: as many as can be (all where both sides have one vocabulary, else target
/// and output), all (source, target, output), target and output, or none.
enum class EmbeddingSharing { automatic, all, target_output, none };

template <>
struct EnumNames<EmbeddingSharing> {
  static constexpr std::array<std::pair<std::string_view, EmbeddingSharing>, 4> value{
      {{"auto", EmbeddingSharing::automatic},
       {"all", EmbeddingSharing::all},
       {"target_output", EmbeddingSharing::target_output},
       {"none", EmbeddingSharing::none}}};
};

/// Ids of the source and target side.
struct VocabularySizes {
  int64_t source = 0, target = 0;
  bool joint = true;  ///< whether an id means the same on both sides
};

/// What `automatic` stands for; every other value stands for itself.
constexpr EmbeddingSharing resolved(EmbeddingSharing sharing, bool joint_vocabulary) {
  if (sharing != EmbeddingSharing::automatic) return sharing;
  return joint_vocabulary ? EmbeddingSharing::all : EmbeddingSharing::target_output;
}

}  // namespace ballast
