#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ballast/data/packed_batch.h"
#include "ballast/recipe/assemble.h"

namespace CLI {
class App;
}

namespace ballast::bench {

inline constexpr const char* default_corpus = "data/libreoffice-help-en-de";

/// A text as ids.
struct Encoded {
  std::shared_ptr<const EncodedCorpus> corpus;
  int64_t vocabulary_size = 0;
};

/// Learns the vocabulary of the recipe's training text and encodes the files `text`. Raises
/// DataError, saying how the default corpus is made, when one is not there.
Encoded encoded(const Recipe& recipe, const std::vector<std::string>& text);

/// The first batches of the recipe's training.
std::vector<Batch> first_batches(const Recipe& recipe, const Encoded& data, int64_t count);

/// Writes a text into a file for `SideRequest::read`. Raises StoreError when it cannot be written.
void save(const Encoded& data, const std::filesystem::path& file);

/// Hands an encoded text to other processes of this program, in a file that is there as long as the
/// object: their peak memory then knows nothing of learning a vocabulary.
class Handed {
 public:
  explicit Handed(const Encoded& data);
  ~Handed();
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;

  /// The flags that tell such a process where it is.
  std::vector<std::string> arguments() const;

 private:
  std::filesystem::path file_;
  int64_t vocabulary_size_;
};

/// What the process of one side is told: which it is, and where the text lies.
struct SideRequest {
  std::string side;
  std::filesystem::path encoded;
  int64_t vocabulary_size = 0;
  bool all_blas_threads = false;  ///< OpenBLAS computes with as many threads as libtorch

  void add_to(CLI::App& app);  ///< as flags that the help does not show
  Encoded read() const;
};

}  // namespace ballast::bench
