#include "ballast/init/init.h"

namespace ballast {

std::optional<Draw> draw_of(const InitChoice& choice, const ParameterFacts& facts) {
  if (is_vector(facts.role)) return vector_draw(choice, facts);
  if (is_embedding(facts.role) || facts.role == Role::output) {
    return std::visit([&](const auto& row) { return row.table(facts); }, choice);
  }
  return matrix_draw(choice, facts);
}

}  // namespace ballast
