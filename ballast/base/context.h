#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/base/point.h"
#include "ballast/base/precision.h"

namespace ballast {

class Bound;

/// A tensor on its way: which module shows it, at which of its points.
struct Passing {
  const Bound& module;
  Point point = Point::stream;
  int lane = 0;  ///< at `lane`: which one
};

/// Sees a tensor of a running forward pass and returns what the pass goes on with, usually the
/// same.
using Observer = std::function<torch::Tensor(const Passing&, const torch::Tensor&)>;

/// What a forward pass depends on besides weights and input; one for all modules of a model.
struct Context {
  uint64_t seed = 0;
  int64_t step = 0;         ///< updates made so far
  int64_t micro_batch = 0;  ///< within the step
  Precision precision = Precision::float32;
  std::vector<const Observer*> observers;  ///< who watches, each seeing what the one before gave
};

/// Base of the modules that draw dropout masks, follow ramps or can be watched.
///
/// `bind_modules` gives every one of them its path and the model's context; a module on its own has
/// a context of its own.
class Bound {
 public:
  virtual ~Bound() = default;

  const std::string& path() const { return path_; }
  Context& context() const { return *context_; }
  void bind_to(std::string path, std::shared_ptr<Context> context);

 protected:
  /// Shows `value` to whoever watches; costs one branch when nobody does.
  torch::Tensor shown(Point point, const torch::Tensor& value, int lane = 0) const {
    return is_watched() ? seen({*this, point, lane}, value) : value;
  }
  bool is_watched() const { return !context_->observers.empty(); }

  /// Key of this step's random numbers at this module.
  uint64_t random_key(std::string_view purpose) const;

 private:
  torch::Tensor seen(const Passing& passing, torch::Tensor value) const;

  std::string path_;
  std::shared_ptr<Context> context_ = std::make_shared<Context>();
};

/// Binds every `Bound` module below `root` to `context`, by its path from `root`. May be called in
/// the root's constructor.
void bind_modules(torch::nn::Module& root, const std::shared_ptr<Context>& context);

/// Attaches an observer to a context until destroyed. Several may watch one pass; they see in the
/// order in which they came.
class Watch {
 public:
  Watch(Context& context, Observer observer);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Context& context_;
  Observer observer_;
};

/// Another precision of a context's matrix products until destroyed; then the one there was before.
class PrecisionScope {
 public:
  PrecisionScope(Context& context, Precision precision);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Context& context_;
  Precision before_;
};

}  // namespace ballast
