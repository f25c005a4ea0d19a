#pragma once

#include <string>

#include "ballast/metrics/tokenization.h"

namespace ballast {

/// Pieces of a SentencePiece model. `signature` empty: `spm-` and the CRC-32 of the file, in
/// hexadecimal. Raises DataError for a file that cannot be read or is no model, StoreError where
/// Ballast's SentencePiece module is missing.
LineTokenizer subwords(const std::string& model_file, const std::string& signature);

}  // namespace ballast
