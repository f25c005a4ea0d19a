#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// A named place of a forward pass, in the order of the pass. A norm, a factor or a shift may stand
/// there, and observers see the tensor that leaves it.
///
/// Of a connection x' = a x + b f(c x): `lane` is x as it enters, `read` what f reads, `branch`
/// what f gives (after dropout), `stream` the x' of lane 0.
enum class Point : uint8_t {
  token,      ///< rows of a table of tokens, before positions are added
  embedding,  ///< what enters a stack
  lane,       ///< of a connection: x; a norm stands on lanes 1 and up
  read,
  branch,
  stream,
  query,  ///< of an attention: projected rows
  key,
  value,
  scores,  ///< q k^T, where a factor may stand and nothing else
  heads,   ///< what the output projection of an attention reads
  gate,    ///< of a feed-forward layer: before the activation
  hidden,  ///< what its second matrix reads
  stack,   ///< after the last connection of a stack
  logits   ///< of the output projection, where a factor may stand and nothing else
};

template <>
struct EnumNames<Point> {
  static constexpr std::array<std::pair<std::string_view, Point>, 15> value{
      {{"token", Point::token},
       {"embedding", Point::embedding},
       {"lane", Point::lane},
       {"read", Point::read},
       {"branch", Point::branch},
       {"stream", Point::stream},
       {"query", Point::query},
       {"key", Point::key},
       {"value", Point::value},
       {"scores", Point::scores},
       {"heads", Point::heads},
       {"gate", Point::gate},
       {"hidden", Point::hidden},
       {"stack", Point::stack},
       {"logits", Point::logits}}};
};

/// A set of points: `{Point::read, Point::branch}`.
class Points {
 public:
  constexpr Points() = default;
  constexpr Points(std::initializer_list<Point> points) {
    for (const Point point : points) insert(point);
  }

  constexpr bool has(Point point) const { return (bits_ & bit(point)) != 0; }
  constexpr void insert(Point point) { bits_ |= bit(point); }

  bool operator==(const Points&) const = default;

 private:
  static constexpr uint32_t bit(Point point) { return uint32_t{1} << static_cast<int>(point); }
  uint32_t bits_ = 0;
};

}  // namespace ballast
