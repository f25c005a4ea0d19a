#pragma once

#include <filesystem>
#include <span>

#include "ballast/base/named_tensors.h"

namespace ballast {

/// The mean of the tensors of several model files, summed in float64 and returned in the type of
/// the files. Tensors of whole numbers and bools, such as counters, are those of the last file.
///
/// Throws StoreError when there is no file, or at the first difference of names, shapes or types.
NamedTensors average(std::span<const std::filesystem::path> model_files);

}  // namespace ballast
