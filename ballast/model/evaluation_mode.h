#pragma once

#include <torch/nn/module.h>

namespace ballast {

/// Evaluation mode without gradients, until destroyed; then the mode there was before. The mode is
/// the model's, the absence of gradients this thread's. The model has to outlive it.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& model)
      : model_(model), was_training_(model.is_training()) {
    model.eval();
  }
  ~EvaluationMode() { model_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& model_;
  bool was_training_;
  torch::NoGradGuard no_grad_;
};

}  // namespace ballast
