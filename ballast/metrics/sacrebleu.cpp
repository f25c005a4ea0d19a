#include "ballast/metrics/sacrebleu.h"

#include <fmt/format.h>

namespace ballast {

std::string sacrebleu_signature(size_t references, const Resampling* resampling,
                                std::string_view options) {
  std::string tested;
  if (resampling != nullptr) {
    const bool bootstrap = resampling->kind == Resampling::Kind::bootstrap;
    tested = fmt::format("{}:{}|seed:{}|", bootstrap ? "bs" : "ar", resampling->samples,
                         resampling->seed);
  }
  return fmt::format("nrefs:{}|{}{}|version:{}", references, tested, options, sacrebleu_version);
}

}  // namespace ballast
