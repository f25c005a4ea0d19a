#include "ballast/model/stack.h"

#include <fmt/format.h>
#include <torch/utils.h>

#include <span>
#include <utility>

#include "ballast/residual/lanes.h"

namespace ballast {
namespace {

/// A context as it was at some moment, until destroyed.
class ContextThen {
 public:
  ContextThen(Context& context, const Context& then)
      : context_(context), now_(std::exchange(context, then)) {}
  ~ContextThen() { context_ = std::move(now_); }
  ContextThen(const ContextThen&) = delete;
  ContextThen& operator=(const ContextThen&) = delete;

 private:
  Context& context_;
  Context now_;
};

}  // namespace

BlockStack::BlockStack(const ModelOptions& options, Stack stack)
    : form_(stack_form(options, stack)) {
  const PositionForm positions = form_of(options.positions);
  if (positions.rotary_base > 0 || positions.distance != DistanceRule::none) {
    positions_ = register_module(
        "positions", std::make_shared<RelativePositions>(positions, options.heads, options.d_head(),
                                                         stack == Stack::decoder));
  }
  auto list = std::make_shared<torch::nn::Module>();
  for (int layer = 0; layer < options.layers(stack); ++layer) {
    blocks.push_back(list->register_module(fmt::format("{}", layer),
                                           std::make_shared<Block>(options, stack, layer)));
  }
  form_.enter = spread(form_.enter, form_.lanes, Spread::every_lane);
  leave_ = {.start = spread(form_.leave, form_.lanes, Spread::every_lane),
            .gate = form_.leave_gate};
  leave_gate_ = store_gate(*this, "leave", leave_, form_.lanes, options.d_model);
  register_module("layers", list);
  const Standing standing{.norms = form_.norms, .norm = form_of(options.norm)};
  for (const Point point : {Point::embedding, Point::lane, Point::stack}) {
    stand(standing, point, {options.d_model});
  }
}

torch::Tensor BlockStack::forward(const torch::Tensor& x, const Surroundings& given) const {
  Surroundings around = given;
  if (positions_) around.places = positions_->of(around.segments, x.options());
  ResidualStream stream = entered(x);
  const bool recomputing = recomputes();
  for (const auto& block : blocks) {
    stream = recomputing ? recomputed_block(block, stream, around)
                         : block->forward(std::move(stream), around);
  }
  return left(stream, &around.segments);
}

torch::Tensor BlockStack::step(const torch::Tensor& x, StackCache& cache,
                               const Reading& reading) const {
  ResidualStream stream = entered(x);
  size_t first = 0;
  for (const auto& block : blocks) {
    const std::span<BranchCache> own = std::span(cache).subspan(first, block->connections.size());
    stream = block->step(std::move(stream), own, reading);
    first += own.size();
  }
  return left(stream, nullptr);
}

RelativePlaces BlockStack::places(const Reading& reading, const torch::TensorOptions& like) const {
  if (!positions_) return {};
  return reading.whole ? positions_->of(*reading.whole, like)
                       : positions_->of_last(reading.lineage.lengths(), like);
}

StackCache BlockStack::cache(const Memory& memory) const {
  StackCache made;
  for (const auto& block : blocks) {
    for (const Connection& each : block->connections) {
      each.branch->remember(memory, made.emplace_back());
    }
  }
  return made;
}

bool BlockStack::recomputes() const {
  return activations == Activations::recomputed && is_training() && !is_watched();
}

/// The second run draws the dropout masks of the first, whatever batch came between.
ResidualStream BlockStack::recomputed_block(const std::shared_ptr<Block>& block,
                                            const ResidualStream& stream,
                                            const Surroundings& around) const {
  std::vector<torch::Tensor> inputs = stream.lanes;
  const auto lanes = static_cast<std::ptrdiff_t>(inputs.size());
  std::optional<Memory> read;  // without its rows, which are an input
  if (around.memory != nullptr) {
    inputs.push_back(around.memory->rows.rows);
    read = Memory{{torch::Tensor(), around.memory->rows.bf16}, around.memory->segments};
  }
  // All that crosses blocks is an input, so that its gradients are summed alike in both ways.
  RelativePlaces places = around.places;
  const bool biased = places.bias.defined();
  if (biased) inputs.push_back(std::exchange(places.bias, {}));
  const ForwardPart part = [block, lanes, biased, places, segments = around.segments, read,
                            &now = context(),
                            then = context()](const std::vector<torch::Tensor>& given) {
    const ContextThen scope(now, then);
    std::optional<Memory> memory = read;
    if (memory) memory->rows.rows = given[lanes];
    Surroundings around{segments, memory ? &*memory : nullptr, places};
    if (biased) around.places.bias = given.back();
    return block->forward({{given.begin(), given.begin() + lanes}}, around).lanes;
  };
  return {recomputed(part, inputs)};
}

std::vector<ParameterSlot> BlockStack::describe() {
  std::vector<ParameterSlot> slots = Pointed::describe();
  for (ParameterSlot& slot : slots_of(leave_gate_, leave_)) slots.push_back(std::move(slot));
  return slots;
}

ResidualStream BlockStack::entered(const torch::Tensor& x) const {
  if (form_.parts) return {x.chunk(form_.lanes, 1)};
  std::vector<torch::Tensor> lanes = mixed(Grid(form_.lanes, form_.enter.values()), {x});
  // Each behind a node of its own, so that the gradients of x are one summand a lane, in one order,
  // whether blocks are recomputed or not.
  if (form_.lanes > 1) {
    for (torch::Tensor& lane : lanes) lane = lane.defined() ? lane.alias() : torch::zeros_like(x);
  }
  return {std::move(lanes)};
}

torch::Tensor BlockStack::left(const ResidualStream& stream, const Segments* sequences) const {
  std::vector<torch::Tensor> lanes = stream.lanes;
  for (size_t i = 1; i < lanes.size(); ++i) {
    lanes[i] = at(Point::lane, lanes[i], sequences);
  }
  return at(Point::stack, form_.parts ? torch::cat(lanes, 1) : summed(lanes), sequences);
}

torch::Tensor BlockStack::summed(const std::vector<torch::Tensor>& lanes) const {
  if (!leave_.gate) return mixed(leave_.start, lanes).front();
  const torch::Tensor start = start_of(leave_, {}).to(lanes.front().options());
  const torch::Tensor weights =
      gated(*leave_.gate, {leave_gate_.weight, leave_gate_.scale, start}, lanes, 1);
  return mixed_by_row(weights, lanes).front();
}

}  // namespace ballast
