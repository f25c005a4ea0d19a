#include "ballast/kernels/bf16.h"

#include <dnnl.hpp>
#include <string>

#include "ballast/base/error.h"
#include "ballast/loops/bf16_loops.h"

namespace ballast {
namespace {

bool has(dnnl::cpu_isa have, dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(have) & bits) == bits;
}

std::string instructions() {
  const dnnl::cpu_isa have = dnnl::get_effective_cpu_isa();
  if (has(have, dnnl::cpu_isa::avx512_core)) return "avx512";
  if (has(have, dnnl::cpu_isa::avx2)) return "avx2";
  return "less than avx2";
}

}  // namespace

torch::Tensor rounded(const torch::Tensor& x) {
  const torch::Tensor from = x.detach().contiguous();
  if (!from.is_cpu() || from.scalar_type() != torch::kFloat32) return from.to(torch::kBFloat16);
  torch::Tensor to = torch::empty(from.sizes(), from.options().dtype(torch::kBFloat16));
  round_elements(from.data_ptr<float>(), bf16_data(to), from.numel());
  return to;
}

uint16_t* bf16_data(const torch::Tensor& x) {
  return reinterpret_cast<uint16_t*>(x.data_ptr<at::BFloat16>());
}

bool bf16_is_fast() { return has(dnnl::get_effective_cpu_isa(), dnnl::cpu_isa::avx512_core_bf16); }

void refuse_slow_precision(std::string_view option, Precision precision, torch::Device device) {
  if (precision == Precision::float32 || !device.is_cpu() || bf16_is_fast()) return;
  const std::string name(option);
  throw RecipeError(name +
                    " = \"bf16\": this processor has no bf16 instructions (avx512_bf16 or "
                    "amx_bf16, found: " +
                    instructions() + "), where bf16 would be slower than float32; set " + name +
                    " = \"float32\"");
}

}  // namespace ballast
