#pragma once

#include <filesystem>
#include <span>

#include "ballast/store/safetensors.h"

namespace ballast {

/// The mean of the tensors of several model files, summed in float64 and returned in the type of
/// the files. Tensors of whole numbers and bools, such as counters, are those of the last file. Its
/// step is the latest of theirs, where all say one.
///
/// Throws StoreError when there is no file, or at the first difference of names, shapes or types.
SafeTensors average(std::span<const std::filesystem::path> model_files);

}  // namespace ballast
