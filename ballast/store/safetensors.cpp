#include "ballast/store/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "ballast/base/error.h"
#include "ballast/base/number.h"
#include "ballast/store/file.h"
#include "ballast/store/safetensors_header.h"

namespace ballast {

static_assert(std::endian::native == std::endian::little, "the format stores little-endian values");

namespace {

constexpr size_t length_bytes = sizeof(uint64_t);

TensorEntry describe(const NamedTensor& tensor, const std::filesystem::path& path) {
  const auto& [name, value] = tensor;
  if (!value.defined()) {
    throw StoreError(fmt::format("{}: tensor \"{}\" has no value", path.string(), name));
  }
  if (value.layout() != torch::kStrided || dtype_name(value.scalar_type()).empty()) {
    throw StoreError(fmt::format("{}: tensor \"{}\" is {}, which the format cannot hold",
                                 path.string(), name, value.toString()));
  }
  return {.name = name, .dtype = value.scalar_type(), .shape = value.sizes().vec()};
}

SafeTensorsHeader describe_all(const NamedTensors& tensors, const std::filesystem::path& path) {
  SafeTensorsHeader header;
  for (const auto& tensor : tensors) header.tensors.push_back(describe(tensor, path));
  lay_out(header.tensors);
  return header;
}

std::string_view bytes_of(const torch::Tensor& contiguous) {
  return {static_cast<const char*>(contiguous.data_ptr()), contiguous.nbytes()};
}

struct Opening {
  SafeTensorsHeader header;
  size_t data_begin = 0;  ///< bytes from the start of the file
};

Opening read_opening(const Descriptor& file, size_t size, const std::filesystem::path& path) {
  if (size < length_bytes) {
    throw StoreError(fmt::format("{}: is truncated: {} bytes are no header", path.string(), size));
  }
  uint64_t length = 0;
  read_exactly(file, &length, length_bytes, 0, path);
  if (length > largest_header) {
    throw StoreError(fmt::format("{}: tells of a header of {} bytes; the format allows {}",
                                 path.string(), length, largest_header));
  }
  if (length > size - length_bytes) {
    throw StoreError(fmt::format("{}: is truncated: its header of {} bytes does not fit into {}",
                                 path.string(), length, size - length_bytes));
  }
  std::string text(length, '\0');
  read_exactly(file, text.data(), length, length_bytes, path);
  const size_t data_begin = length_bytes + length;
  return {parse_header(text, size - data_begin, path.string()), data_begin};
}

torch::Tensor read_tensor(const Descriptor& file, const TensorEntry& entry, size_t data_begin,
                          const std::filesystem::path& path) {
  // A byte other than 0 and 1 is no bool, so bools are read as numbers.
  const bool is_bool = entry.dtype == torch::kBool;
  const auto value = torch::empty(entry.shape, is_bool ? torch::kUInt8 : entry.dtype);
  read_exactly(file, value.data_ptr(), value.nbytes(), data_begin + entry.begin, path);
  return is_bool ? value.ne(0) : value;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  auto header = describe_all(tensors, path);
  header.metadata = metadata;
  const std::string text = format_header(header, path.string());
  std::unordered_map<std::string_view, const torch::Tensor*> values;
  for (const auto& [name, value] : tensors) values.emplace(name, &value);

  NewFile file(path);
  const uint64_t length = text.size();
  file.write({reinterpret_cast<const char*>(&length), length_bytes});
  file.write(text);
  for (const auto& entry : header.tensors) {
    const auto value = values.at(entry.name)->detach().to(torch::kCPU).contiguous();
    file.write(bytes_of(value));
  }
  file.commit();
}

SafeTensors read_safetensors(const std::filesystem::path& path) {
  const size_t size = size_of_file(path);
  const auto file = open_file(path, O_RDONLY);
  auto [header, data_begin] = read_opening(file, size, path);
  SafeTensors result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (auto& entry : header.tensors) {
    auto value = read_tensor(file, entry, data_begin, path);
    result.tensors.push_back({std::move(entry.name), std::move(value)});
  }
  return result;
}

std::map<std::string, std::string> model_metadata(std::optional<int64_t> step) {
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  if (step) metadata["step"] = fmt::format("{}", *step);
  return metadata;
}

std::optional<int64_t> step_of(const SafeTensors& model, const std::filesystem::path& file) {
  const auto found = model.metadata.find("step");
  if (found == model.metadata.end()) return std::nullopt;
  const auto step = number_in<int64_t>(found->second);
  if (step && *step >= 0) return step;
  throw StoreError(fmt::format("{}: its metadata has step \"{}\", expected a number of updates",
                               file.string(), found->second));
}

torch::Tensor tensor_named(const NamedTensors& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  if (found == tensors.end()) throw StoreError(fmt::format("there is no tensor \"{}\"", name));
  return found->value;
}

}  // namespace ballast
