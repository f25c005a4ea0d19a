#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "ballast/base/named_tensors.h"

namespace ballast {

/// What a safetensors file holds.
struct SafeTensors {
  NamedTensors tensors;  ///< on the CPU, in the order of their data in the file
  std::map<std::string, std::string> metadata;
};

/// Writes a file in the format of https://github.com/huggingface/safetensors, byte for byte as that
/// library lays it out. Tensors of any device and layout of strides are written as contiguous
/// values.
///
/// The file appears whole or not at all: a full disk or a killed process leaves what was there.
/// Throws StoreError for the system's reasons, for a name used twice, and for a type that the
/// format does not have (it has float64, float32, float16, bfloat16, int64 to int8, uint8, bool).
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// Reads such a file, from any source: sizes are checked against the file before memory is asked
/// for. Throws StoreError that names the file and what is wrong with it.
SafeTensors read_safetensors(const std::filesystem::path& path);

/// What a model file says of itself: that it holds tensors as PyTorch has them, and the updates its
/// weights had, on which ramps depend.
std::map<std::string, std::string> model_metadata(std::optional<int64_t> step);

/// The updates that a model's weights had; nothing where the file does not say. Throws StoreError
/// that names `file` where it says something else.
std::optional<int64_t> step_of(const SafeTensors& model, const std::filesystem::path& file);

/// The tensor called `name`; throws StoreError when there is none.
torch::Tensor tensor_named(const NamedTensors& tensors, std::string_view name);

}  // namespace ballast
