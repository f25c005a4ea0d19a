#include "ballast/kernels/matmul.h"

#include <dnnl.hpp>
#include <unordered_map>

namespace ballast {
namespace {

using dnnl::memory;

memory matrix(const torch::Tensor& t, const dnnl::engine& engine) {
  const memory::desc desc({t.size(0), t.size(1)}, memory::data_type::f32,
                          memory::dims{t.stride(0), t.stride(1)});
  return {desc, engine, t.data_ptr()};
}

memory row(const torch::Tensor& t, const dnnl::engine& engine) {
  const memory::desc desc({1, t.size(0)}, memory::data_type::f32, memory::dims{t.size(0), 1});
  return {desc, engine, t.data_ptr()};
}

/// Scratch memory that the caller owns lets several threads run equal primitives at once.
dnnl::primitive_attr attributes(float scale) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (scale != 1) attributes.set_output_scales(0, {scale});
  return attributes;
}

}  // namespace

void matmul_into(torch::Tensor out, const torch::Tensor& left, const torch::Tensor& right,
                 const torch::Tensor& bias, float scale) {
  if (out.numel() == 0) return;
  if (left.size(1) == 0) {
    out.zero_();
    if (bias.defined()) out.add_(bias);
    return;
  }
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory a = matrix(left, engine), b = matrix(right, engine), c = matrix(out, engine);
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  const auto describe = [&] {
    if (!bias.defined()) return dnnl::matmul::desc(a.get_desc(), b.get_desc(), c.get_desc());
    const memory added = row(bias, engine);
    arguments.emplace(DNNL_ARG_BIAS, added);
    return dnnl::matmul::desc(a.get_desc(), b.get_desc(), added.get_desc(), c.get_desc());
  };
  const dnnl::matmul::primitive_desc primitive(describe(), attributes(scale), engine);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(primitive.scratchpad_desc(), engine));
  dnnl::matmul(primitive).execute(dnnl::stream(engine), arguments);
}

}  // namespace ballast
