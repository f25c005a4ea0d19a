#include "ballast/store/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/store/json.h"

namespace ballast {

namespace {

constexpr std::string_view metadata_key = "__metadata__";

struct DtypeName {
  std::string_view name;
  torch::Dtype dtype;
};

/// In the order in which the reference library lays out their data.
constexpr std::array<DtypeName, 10> dtypes{{{"I64", torch::kInt64},
                                            {"F64", torch::kFloat64},
                                            {"F32", torch::kFloat32},
                                            {"I32", torch::kInt32},
                                            {"BF16", torch::kBFloat16},
                                            {"F16", torch::kFloat16},
                                            {"I16", torch::kInt16},
                                            {"I8", torch::kInt8},
                                            {"U8", torch::kUInt8},
                                            {"BOOL", torch::kBool}}};

size_t place_of(torch::Dtype dtype) {
  return std::ranges::find(dtypes, dtype, &DtypeName::dtype) - dtypes.begin();
}

template <class... Parts>
[[noreturn]] void refuse(std::string_view file, fmt::format_string<Parts...> text,
                         Parts&&... parts) {
  throw StoreError(fmt::format("{}: {}", file, fmt::format(text, std::forward<Parts>(parts)...)));
}

/// Bytes of a dense tensor, nothing when they or its strides cannot be counted.
std::optional<uint64_t> byte_count(const TensorEntry& entry) {
  auto bytes = static_cast<int64_t>(torch::elementSize(entry.dtype));
  bool empty = false;
  for (const int64_t size : entry.shape) {
    empty |= size == 0;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

std::map<std::string, std::string> read_metadata(const nlohmann::json& json,
                                                 std::string_view file) {
  if (!json.is_object()) refuse(file, "{} is not an object", metadata_key);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse(file, "metadata \"{}\" is not a string", key);
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// A member of a tensor's entry that must be a list of whole numbers from 0.
std::vector<uint64_t> read_numbers(const nlohmann::json& json, std::string_view key,
                                   std::string_view tensor, std::string_view file) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) {
    refuse(file, "tensor \"{}\" has no list \"{}\"", tensor, key);
  }
  std::vector<uint64_t> numbers;
  for (const auto& number : *found) {
    if (!number.is_number_unsigned()) {
      refuse(file,
             "\"{}\" of tensor \"{}\" holds something else than whole numbers from 0 to 2^64-1",
             key, tensor);
    }
    numbers.push_back(number.get<uint64_t>());
  }
  return numbers;
}

torch::Dtype read_dtype(const nlohmann::json& json, std::string_view tensor,
                        std::string_view file) {
  const auto found = json.find("dtype");
  if (found == json.end() || !found->is_string()) {
    refuse(file, "tensor \"{}\" has no \"dtype\"", tensor);
  }
  const auto& name = found->get_ref<const std::string&>();
  const auto* known = std::ranges::find(dtypes, name, &DtypeName::name);
  if (known == dtypes.end()) {
    refuse(file,
           "tensor \"{}\" has the type \"{}\"; expected one of I64, F64, F32, I32, BF16, F16, I16, "
           "I8, U8, BOOL",
           tensor, name);
  }
  return known->dtype;
}

void check_range(const TensorEntry& entry, std::string_view file) {
  if (entry.begin > entry.end) {
    refuse(file, "tensor \"{}\" begins at byte {} and ends before it, at {}", entry.name,
           entry.begin, entry.end);
  }
  const auto bytes = byte_count(entry);
  if (!bytes) {
    refuse(file, "tensor \"{}\" has a shape of more bytes than can be counted: [{}]", entry.name,
           fmt::join(entry.shape, ", "));
  }
  if (*bytes != entry.end - entry.begin) {
    refuse(file, "tensor \"{}\" of type {} and shape [{}] needs {} bytes but has {}", entry.name,
           dtype_name(entry.dtype), fmt::join(entry.shape, ", "), *bytes, entry.end - entry.begin);
  }
}

TensorEntry read_entry(const std::string& name, const nlohmann::json& json, std::string_view file) {
  if (!json.is_object()) refuse(file, "the entry of tensor \"{}\" is not an object", name);
  TensorEntry entry;
  entry.name = name;
  entry.dtype = read_dtype(json, name, file);
  for (const uint64_t size : read_numbers(json, "shape", name, file)) {
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      refuse(file, "tensor \"{}\" has a dimension of {}, more than can be counted", name, size);
    }
    entry.shape.push_back(static_cast<int64_t>(size));
  }
  const auto range = read_numbers(json, "data_offsets", name, file);
  if (range.size() != 2) {
    refuse(file, "tensor \"{}\" has {} data_offsets; expected begin and end", name, range.size());
  }
  entry.begin = range[0];
  entry.end = range[1];
  check_range(entry, file);
  return entry;
}

/// The ranges must follow each other from 0 to the end of the file. Expects them sorted.
void check_cover(const std::vector<TensorEntry>& tensors, uint64_t data_bytes,
                 std::string_view file) {
  uint64_t covered = 0;
  std::string_view last = "the header";
  for (const auto& entry : tensors) {
    if (entry.begin < covered) {
      refuse(file, "tensors \"{}\" and \"{}\" overlap at byte {}", last, entry.name, entry.begin);
    }
    if (entry.begin > covered) {
      refuse(file, "bytes {} to {} before tensor \"{}\" belong to no tensor", covered, entry.begin,
             entry.name);
    }
    covered = entry.end;
    last = entry.name;
  }
  if (covered > data_bytes) {
    refuse(file, "is truncated: {} bytes of data are there, the header tells of {}", data_bytes,
           covered);
  }
  if (covered < data_bytes) {
    refuse(file, "the last {} bytes belong to no tensor", data_bytes - covered);
  }
}

}  // namespace

std::string_view dtype_name(torch::Dtype dtype) {
  const size_t place = place_of(dtype);
  return place < dtypes.size() ? dtypes[place].name : std::string_view();
}

void lay_out(std::vector<TensorEntry>& tensors) {
  std::ranges::sort(tensors, {}, [](const TensorEntry& entry) {
    return std::tuple<size_t, const std::string&>(place_of(entry.dtype), entry.name);
  });
  uint64_t end = 0;
  for (auto& entry : tensors) {
    entry.begin = end;
    end += byte_count(entry).value();
    entry.end = end;
  }
}

std::string format_header(const SafeTensorsHeader& header, std::string_view file) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[metadata_key] = header.metadata;
  for (const auto& entry : header.tensors) {
    if (json.contains(entry.name) || entry.name == metadata_key) {
      refuse(file, "a tensor cannot be called \"{}\": the name is taken", entry.name);
    }
    json[entry.name] = {{"dtype", dtype_name(entry.dtype)},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  }
  try {
    std::string text = json.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  } catch (const nlohmann::json::exception& error) {
    refuse(file, "a name or metadata is not UTF-8 ({})", error.what());
  }
}

SafeTensorsHeader parse_header(std::string_view text, uint64_t data_bytes, std::string_view file) {
  const auto json = parse_strict_json(text, {.depth = 3, .list_length = largest_rank},
                                      fmt::format("{}: the header", file));
  SafeTensorsHeader header;
  for (const auto& [key, value] : json.items()) {
    if (key == metadata_key) {
      header.metadata = read_metadata(value, file);
    } else {
      header.tensors.push_back(read_entry(key, value, file));
    }
  }
  std::ranges::sort(header.tensors, {}, [](const TensorEntry& entry) {
    return std::tuple<uint64_t, uint64_t>(entry.begin, entry.end);
  });
  check_cover(header.tensors, data_bytes, file);
  return header;
}

}  // namespace ballast
