#pragma once

#include <torch/types.h>

#include <functional>
#include <initializer_list>
#include <mutex>
#include <vector>

namespace ballast {

/// A tensor that is made of others, kept until one of these has changed. Safe on several threads.
///
/// A change is seen as autograd sees it, by the tensor's version, or when a source has moved to
/// other memory. What writes through `data()` or a raw pointer has to bump the version, as
/// `Optimizer::step` does. A tensor handed out before stays as it was, for the graph that holds it.
class MadeFrom {
 public:
  /// What `make` gives of the defined ones of the sources, or gave before. Inference tensors have
  /// no version; of these it is made each time.
  torch::Tensor get(std::initializer_list<torch::Tensor> sources,
                    const std::function<torch::Tensor()>& make);

 private:
  /// Which values a tensor had. The weak reference keeps another storage from being taken for it.
  struct Stamp {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    const void* data;
    int64_t version;

    bool operator==(const Stamp&) const = default;
  };

  std::mutex mutex_;
  std::vector<Stamp> stamps_;  // none before the first time
  torch::Tensor value_;
};

}  // namespace ballast
