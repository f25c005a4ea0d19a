#include "ballast/base/context.h"

#include <utility>

#include "ballast/base/philox.h"

namespace ballast {

void Bound::bind_to(std::string path, std::shared_ptr<Context> context) {
  path_ = std::move(path);
  context_ = std::move(context);
}

uint64_t Bound::random_key(std::string_view purpose) const {
  const uint64_t place = mix(key_of(path_), key_of(purpose));
  const uint64_t time =
      mix(static_cast<uint64_t>(context_->step), static_cast<uint64_t>(context_->micro_batch));
  return mix(mix(context_->seed, time), place);
}

void bind_modules(torch::nn::Module& root, const std::shared_ptr<Context>& context) {
  for (const auto& item : root.named_modules({}, /*include_self=*/false)) {
    if (auto* bound = dynamic_cast<Bound*>(item.value().get())) {
      bound->bind_to(item.key(), context);
    }
  }
}

torch::Tensor Bound::seen(const Passing& passing, torch::Tensor value) const {
  for (const Observer* observer : context_->observers) value = (*observer)(passing, value);
  return value;
}

Watch::Watch(Context& context, Observer observer)
    : context_(context), observer_(std::move(observer)) {
  context.observers.push_back(&observer_);
}

Watch::~Watch() { std::erase(context_.observers, &observer_); }

PrecisionScope::PrecisionScope(Context& context, Precision precision)
    : context_(context), before_(std::exchange(context.precision, precision)) {}

PrecisionScope::~PrecisionScope() { context_.precision = before_; }

}  // namespace ballast
