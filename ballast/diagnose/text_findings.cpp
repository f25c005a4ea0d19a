#include "ballast/diagnose/finding_rows.h"

namespace ballast {
namespace {

std::vector<std::string> nothing(const Examination&) { return {}; }

std::optional<Evidence> above(std::string_view option, std::string what, double measured,
                              double limit) {
  if (!(measured > limit)) return std::nullopt;
  return Evidence{std::string(option), std::move(what), measured, limit};
}

std::optional<Evidence> find_copied(const Examination& seen) {
  return above("data.train", "share of pairs whose source is their target", seen.text.copied_share,
               0.05);
}

std::optional<Evidence> find_misaligned(const Examination& seen) {
  if (seen.text.sequences < 50 || seen.text.length_correlation > 0.4) return std::nullopt;
  return Evidence{"data.train", "correlation of the sides' lengths", seen.text.length_correlation,
                  0.9};
}

std::optional<Evidence> find_repeated(const Examination& seen) {
  return above("data.train", "share of sequences that stood before", seen.text.repeated_share, 0.3);
}

std::optional<Evidence> find_dropped(const Examination& seen) {
  return above("data.length.max_length", "share of pairs that are left out",
               seen.text.dropped_share, 0.1);
}

std::optional<Evidence> find_unknown(const Examination& seen) {
  return above("data.tokenizer", "share of ids that are unknown", seen.text.unknown_share, 0.02);
}

std::optional<Evidence> find_rare_ids(const Examination& seen) {
  if (seen.text.tokens_per_id >= 20) return std::nullopt;
  return Evidence{"data.tokenizer.vocabulary_size", "tokens of text for each entry",
                  seen.text.tokens_per_id, 100};
}

}  // namespace

std::vector<FindingRow> text_findings() {
  return {
      {"source_is_target",
       Severity::warning,
       "pairs whose sides are equal teach to copy",
       "Khayrallah and Koehn 2018, arXiv:1805.12282",
       find_copied,
       nothing,
       {"text_misaligned"}},
      {"text_misaligned", Severity::error,
       "the lengths of the two sides have nothing to do with each other: lines do not belong "
       "together",
       "Koehn et al. 2020 (WMT filtering)", find_misaligned, nothing},
      {"text_repeats", Severity::warning,
       "sequences that stand there several times are learned by heart",
       "Lee et al. 2022, arXiv:2107.06499", find_repeated, nothing},
      {"text_dropped", Severity::warning, "much of the text is left out as empty or too long", "",
       find_dropped, nothing},
      {"vocabulary_unfit", Severity::warning,
       "much of the text is the unknown piece: the vocabulary is of another text", "", find_unknown,
       nothing},
      {"vocabulary_too_large", Severity::note,
       "few occurrences for each entry of the vocabulary: many stay as they were drawn",
       "Gowda and May 2020, arXiv:2004.02334", find_rare_ids, nothing},
  };
}

}  // namespace ballast
