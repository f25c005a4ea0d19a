#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ballast/base/fields.h"
#include "ballast/metrics/metric.h"

namespace ballast {

struct TerOptions {
  bool normalized = false;     ///< punctuation of ASCII is set apart, a few HTML entities are read
  bool no_punct = false;       ///< . , ? : ; ! " ( ) are left out
  bool asian_support = false;  ///< both also for Chinese and Japanese; characters are words
  bool case_sensitive = false;

  static constexpr auto fields() {
    return std::tuple{
        field("normalized", &TerOptions::normalized, "set punctuation apart"),
        field("no_punct", &TerOptions::no_punct, "leave punctuation out"),
        field("asian_support", &TerOptions::asian_support,
              "normalized and no_punct also for Chinese and Japanese"),
        field("case_sensitive", &TerOptions::case_sensitive, "compare with case"),
    };
  }
};

struct TerScore {
  double score = 0;          ///< percent; can exceed 100
  int64_t edits = 0;         ///< insertions, deletions, substitutions and shifts
  double reference_len = 0;  ///< words, averaged over the references of each line
};

/// Translation edit rate of a corpus, equal to sacreBLEU's (Tercom's search for shifts; words are
/// separated by white space). `references[r][line]`; of several references the one with the fewest
/// edits counts. Throws `DataError` when the numbers of lines differ. Snover et al. 2006,
/// 2006.amta-papers.25.
TerScore corpus_ter(std::span<const std::string> hypotheses,
                    std::span<const std::vector<std::string>> references,
                    const TerOptions& options = {});

TerScore sentence_ter(const std::string& hypothesis, std::span<const std::string> references,
                      const TerOptions& options = {});

/// TER as a `Metric`.
Metric ter_metric(const TerOptions& options = {});

/// sacreBLEU's signature, `nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0`.
std::string ter_signature(const TerOptions& options, size_t references);

}  // namespace ballast
