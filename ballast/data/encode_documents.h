#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "ballast/data/documents.h"
#include "ballast/data/token_stream.h"
#include "ballast/data/tokenizer.h"

namespace ballast {

/// Text files, and how they become documents.
struct DocumentFiles {
  std::vector<std::string> files;
  DocumentRules rules;
  int64_t least_ids = 1;  ///< shorter documents, the end piece counted, are left out
};

/// How far an encoding is.
struct EncodingProgress {
  int64_t bytes = 0;  ///< of the text files as they lie on disk
  int64_t total_bytes = 0;
  int64_t ids = 0;
};

/// What goes on beside an encoding.
struct EncodingWork {
  int threads = 1;
  std::stop_token stop;
  std::function<void(const EncodingProgress&)> progress;  ///< empty: nobody wants to know
};

/// Says which text, rules and vocabulary a stream is made from. Reads the files.
CorpusKey key_of_documents(const DocumentFiles& text, const Tokenizer& tokenizer,
                           const std::stop_token& stop = {});

/// Encodes all documents, each with the end piece behind it where the vocabulary has one, into the
/// file `cache` (which is taken as it is when it has this key), or into a temporary one where that
/// is empty. A line of plain text that is blank is an end piece alone; any other document without
/// an id is left out and counted. In memory there are a few MiB for each thread, and the longest
/// documents.
///
/// The file is the same to the bit for any number of threads. What is done is kept in
/// `cache`.chunks: after a kill or a stop request (which raises Stopped), the same call goes on
/// from there. Raises DataError for what `DocumentReader` refuses, StoreError when the files cannot
/// be written.
TokenStream encode_documents(const DocumentFiles& text, const Tokenizer& tokenizer,
                             const std::filesystem::path& cache, const EncodingWork& work);

}  // namespace ballast
