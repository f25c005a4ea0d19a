#pragma once

#include <cstdint>
#include <vector>

#include "ballast/data/stream_draft.h"
#include "ballast/data/token_stream.h"
#include "ballast/testing/temporary_directory.h"

namespace ballast::testing {

using FilesOfDocuments = std::vector<std::vector<std::vector<uint32_t>>>;

/// A stream of these documents; all their ids are below `vocabulary`.
inline TokenStream stream_of(const FilesOfDocuments& files, int64_t vocabulary) {
  const TemporaryDirectory folder;
  const CorpusKey key{.target_vocabulary = vocabulary};
  StreamDraft draft(folder / "chunks", key);
  for (std::size_t f = 0; f < files.size(); ++f) {
    StreamBlock block{.file = f, .read = files[f].size()};
    for (const auto& document : files[f]) {
      block.ids.insert(block.ids.end(), document.begin(), document.end());
      block.lengths.push_back(static_cast<uint32_t>(document.size()));
    }
    block.text_ids = block.ids.size();
    draft.add(block);
  }
  write_stream(draft, key, files.size(), folder / "tokens");
  return TokenStream::open(key, folder / "tokens").value();
}

}  // namespace ballast::testing
