#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// One tensor as the header of a safetensors file describes it.
struct TensorEntry {
  std::string name;
  torch::Dtype dtype = torch::kFloat32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  ///< bytes, counted from the end of the header
};

/// The header of a safetensors file (https://github.com/huggingface/safetensors).
struct SafeTensorsHeader {
  std::vector<TensorEntry> tensors;  ///< in the order of their data
  std::map<std::string, std::string> metadata;
};

inline constexpr uint64_t largest_header = 100'000'000;  ///< bytes; the limit of the format
inline constexpr size_t largest_rank = 64;               ///< dimensions of a tensor we accept

/// Gives the tensors the order and the byte ranges that the reference library gives them: by
/// alignment of the type, falling, then by name.
void lay_out(std::vector<TensorEntry>& tensors);

/// The JSON text, padded with spaces to a multiple of 8 bytes. Throws StoreError for a name that is
/// used twice, is reserved or is not UTF-8. `file` names the file in messages.
std::string format_header(const SafeTensorsHeader& header, std::string_view file);

/// Reads the JSON text of a file with `data_bytes` bytes behind its header. Throws StoreError, with
/// a message of its own for each way of being wrong; asks for no memory by what the text claims.
SafeTensorsHeader parse_header(std::string_view json, uint64_t data_bytes, std::string_view file);

/// The name of a type in the format, such as "F32"; empty for a type that it does not have.
std::string_view dtype_name(torch::Dtype dtype);

}  // namespace ballast
