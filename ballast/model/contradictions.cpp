#include "ballast/model/contradictions.h"

#include <fmt/format.h>

namespace ballast {

std::vector<Contradiction> contradictions(const ModelOptions& options) {
  std::vector<Contradiction> found;
  if (options.d_model % options.heads != 0) {
    found.push_back(
        {"model.heads", fmt::format("model.heads = {} does not divide model.d_model = {}",
                                    options.heads, options.d_model)});
  }
  if (options.d_model % 2 != 0) {
    found.push_back(
        {"model.d_model",
         fmt::format("model.d_model = {} is odd; positions need an even width", options.d_model)});
  }
  return found;
}

}  // namespace ballast
