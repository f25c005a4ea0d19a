#include "ballast/metrics/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ballast/metrics/ngrams.h"
#include "ballast/metrics/references.h"
#include "ballast/metrics/sacrebleu.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

struct Overlap {
  int64_t hypothesis = 0, reference = 0, matches = 0;
};
using Overlaps = std::vector<Overlap>;  // of each order: first characters, then words

bool is_ascii_punctuation(char32_t c) {
  constexpr std::u32string_view marks = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  return marks.find(c) != marks.npos;
}

// Parts one punctuation mark from each word, the last if there is one, else the first.
std::vector<std::u32string_view> part_punctuation(std::span<const std::u32string_view> words) {
  std::vector<std::u32string_view> parts;
  for (const std::u32string_view word : words) {
    size_t cut = word.size();
    if (is_ascii_punctuation(word.back())) {
      cut = word.size() - 1;
    } else if (is_ascii_punctuation(word.front())) {
      cut = 1;
    }
    if (cut > 0) parts.push_back(word.substr(0, cut));
    if (cut < word.size()) parts.push_back(word.substr(cut));
  }
  return parts;
}

struct Tokens {
  std::vector<uint32_t> characters, words;
};

Tokens tokens_of(std::string_view line, const ChrfOptions& options, WordIds& ids) {
  std::u32string text = code_points(line);
  if (options.lowercase) text = lower_case(text);
  const std::vector<std::u32string_view> words = split_words(text);
  Tokens tokens;
  for (const std::u32string_view word : words) {
    tokens.characters.insert(tokens.characters.end(), word.begin(), word.end());
  }
  if (options.word_order > 0) tokens.words = ids.number(part_punctuation(words));
  return tokens;
}

// The n-grams of one hypothesis and of the references that it is compared with.
class Comparison {
 public:
  Comparison(std::string_view hypothesis, const ChrfOptions& options)
      : options_(options),
        character_ngrams_(options.char_order),
        word_ngrams_(options.word_order),
        hypothesis_(tokens_of(hypothesis, options, ids_)),
        characters_(character_ngrams_.count(hypothesis_.characters)),
        words_(word_ngrams_.count(hypothesis_.words)) {}

  Overlaps with(std::string_view reference) {
    const Tokens tokens = tokens_of(reference, options_, ids_);
    Overlaps overlaps;
    append(overlaps, {hypothesis_.characters.size(), tokens.characters.size()},
           character_ngrams_.matches(characters_, character_ngrams_.count(tokens.characters)));
    append(overlaps, {hypothesis_.words.size(), tokens.words.size()},
           word_ngrams_.matches(words_, word_ngrams_.count(tokens.words)));
    return overlaps;
  }

 private:
  struct Lengths {
    size_t hypothesis, reference;
  };

  static void append(Overlaps& overlaps, Lengths lengths, std::span<const int64_t> matches) {
    for (size_t i = 0; i < matches.size(); ++i) {
      const auto n = static_cast<int64_t>(i) + 1;
      const int64_t reference = ngrams_in(static_cast<int64_t>(lengths.reference), n);
      const int64_t hypothesis = ngrams_in(static_cast<int64_t>(lengths.hypothesis), n);
      // sacreBLEU forgives n-grams that the reference is too short to have.
      overlaps.push_back({reference > 0 ? hypothesis : 0, reference, matches[i]});
    }
  }

  const ChrfOptions& options_;
  WordIds ids_;
  NgramCounter character_ngrams_, word_ngrams_;
  Tokens hypothesis_;
  NgramCounter::Counts characters_, words_;
};

double f_score(std::span<const Overlap> overlaps, int beta) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const Overlap& overlap : overlaps) {
    if (overlap.hypothesis == 0 || overlap.reference == 0) continue;
    const auto matches = static_cast<double>(overlap.matches);
    precision += matches / static_cast<double>(overlap.hypothesis);
    recall += matches / static_cast<double>(overlap.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = static_cast<double>(beta) * beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

Overlaps best_overlaps(std::string_view hypothesis, std::span<const std::string_view> references,
                       const ChrfOptions& options) {
  Comparison comparison(hypothesis, options);
  Overlaps best;
  double best_score = -1;
  for (const std::string_view reference : references) {
    Overlaps overlaps = comparison.with(reference);
    const double score = f_score(overlaps, options.beta);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(overlaps);
  }
  return best;
}

}  // namespace

double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options) {
  check_line_counts(hypotheses.size(), references);
  Overlaps sums(static_cast<size_t>(options.char_order + options.word_order));
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    const Overlaps overlaps =
        best_overlaps(hypotheses[line], references_of_line(references, line), options);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].hypothesis += overlaps[i].hypothesis;
      sums[i].reference += overlaps[i].reference;
      sums[i].matches += overlaps[i].matches;
    }
  }
  return f_score(sums, options.beta);
}

double sentence_chrf(const std::string& hypothesis, std::span<const std::string> references,
                     const ChrfOptions& options) {
  const std::vector<std::string_view> lines(references.begin(), references.end());
  return f_score(best_overlaps(hypothesis, lines, options), options.beta);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta,
                     std::string(static_cast<size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.char_order, options.word_order,
                     sacrebleu_version);
}

}  // namespace ballast
