#include "ballast/kernels/matmul.h"

#include <dnnl.hpp>
#include <unordered_map>

#include "ballast/kernels/bf16.h"

namespace ballast {
namespace {

using dnnl::memory;

memory::data_type type_of(const torch::Tensor& t) {
  return is_bf16(t) ? memory::data_type::bf16 : memory::data_type::f32;
}

memory matrix(const torch::Tensor& t, const dnnl::engine& engine) {
  const memory::desc desc({t.size(0), t.size(1)}, type_of(t),
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

/// What is added to a product: a bias, or what `out` held before.
struct Addend {
  torch::Tensor bias = {};
  bool own = false;
};

void multiply(const torch::Tensor& out, const torch::Tensor& left, const torch::Tensor& right,
              const Addend& added, dnnl::primitive_attr attributes) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory a = matrix(left, engine), b = matrix(right, engine), c = matrix(out, engine);
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  const auto describe = [&] {
    if (!added.bias.defined()) return dnnl::matmul::desc(a.get_desc(), b.get_desc(), c.get_desc());
    const memory bias = row(added.bias, engine);
    arguments.emplace(DNNL_ARG_BIAS, bias);
    return dnnl::matmul::desc(a.get_desc(), b.get_desc(), bias.get_desc(), c.get_desc());
  };
  if (added.own) {
    dnnl::post_ops sum;
    sum.append_sum(1);
    attributes.set_post_ops(sum);
  }
  const dnnl::matmul::primitive_desc primitive(describe(), attributes, engine);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(primitive.scratchpad_desc(), engine));
  dnnl::matmul(primitive).execute(dnnl::stream(engine), arguments);
}

torch::Tensor widened(const torch::Tensor& t) { return t.to(torch::kFloat32); }

/// True where the operands have to be widened first.
bool lacks_instructions(const torch::Tensor& operand) {
  return is_bf16(operand) && !bf16_is_fast();
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
  if (!lacks_instructions(left)) {
    return multiply(out, left, right, {.bias = bias}, attributes(scale));
  }
  torch::Tensor wide =
      is_bf16(out) ? torch::empty(out.sizes(), out.options().dtype(torch::kFloat32)) : out;
  multiply(wide, widened(left), widened(right), {.bias = bias}, attributes(scale));
  if (is_bf16(out)) out.copy_(rounded(wide));
}

void add_matmul(torch::Tensor out, const torch::Tensor& left, const torch::Tensor& right,
                float scale) {
  if (out.numel() == 0 || left.size(1) == 0) return;
  const bool widen = lacks_instructions(left);
  multiply(out, widen ? widened(left) : left, widen ? widened(right) : right, {.own = true},
           attributes(scale));
}

}  // namespace ballast
