#include <memory>

#include "bench/models.h"
#include "bench/process.h"
#include "bench/step_measurement.h"

namespace ballast::bench {
namespace {

/// The steps of either side, one question each.
template <class Side>
void serve_steps(Side& side, const std::vector<Batch>& batches) {
  serve([&](const nlohmann::json& question) -> nlohmann::json {
    if (question == "peak") return peak_resident();
    if (question == "gradient") {
      const Gradient found = side.gradient(batches.front());
      return {found.loss, found.norm};
    }
    const StepTime time = side.step(batches.at(question.get<std::size_t>()));
    return {time.forward, time.backward, time.update};
  });
}

}  // namespace

void serve_side(const StepRequest& request, const SideRequest& side) {
  const std::vector<Variant> variants = variants_of(request);
  const Encoded data = side.read();
  const std::vector<Batch> batches = first_batches(variants.front().recipe, data, request.steps);
  for (const Variant& each : variants) {
    if (side.side != each.precision) continue;
    OurSide ours(each.recipe, data.vocabulary_size);
    serve_steps(ours, batches);
    return;
  }
  const Recipe& recipe = variants.front().recipe;
  auto values = build_model(recipe, {data.vocabulary_size, data.vocabulary_size});
  StockSide stock(recipe, stock_of(request.model, *values.model));
  values = {};
  serve_steps(stock, batches);
}

}  // namespace ballast::bench
