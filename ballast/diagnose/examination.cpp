#include "ballast/diagnose/examination.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ballast {
namespace {

struct Copies {
  double repeated = 0, copied = 0, unknown = 0, ids = 0;
};

std::vector<int32_t> inner(std::span<const int32_t> ids, size_t begin_pieces) {
  std::vector<int32_t> words(ids.begin() + static_cast<int64_t>(std::min(begin_pieces, ids.size())),
                             ids.end());
  return words;
}

double unknown_in(std::span<const int32_t> ids, int64_t unknown) {
  return static_cast<double>(std::ranges::count(ids, static_cast<int32_t>(unknown)));
}

/// Pearson's, of the lengths of both sides.
double length_correlation(const EncodedCorpus& corpus) {
  if (!corpus.is_parallel() || corpus.count() < 3) return 1;
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  const auto count = static_cast<double>(corpus.count());
  for (int64_t i = 0; i < corpus.count(); ++i) {
    const auto a = static_cast<double>(corpus.source.length(i));
    const auto b = static_cast<double>(corpus.target.length(i));
    x += a / count, y += b / count;
    xx += a * a / count, xy += a * b / count, yy += b * b / count;
  }
  const double spread = std::sqrt((xx - x * x) * (yy - y * y));
  return spread > 0 ? (xy - x * y) / spread : 1;
}

Copies copies_in(const EncodedCorpus& corpus, const TextSides& sides) {
  Copies found;
  std::set<std::pair<std::vector<int32_t>, std::vector<int32_t>>> known;
  for (int64_t i = 0; i < std::min(corpus.count(), sides.sequences); ++i) {
    const std::span<const int32_t> target = corpus.target[i];
    const std::span<const int32_t> source =
        corpus.is_parallel() ? corpus.source[i] : std::span<const int32_t>();
    // A target has the begin piece before what its source has too.
    std::vector<int32_t> left(source.begin(), source.end()), right = inner(target, 1);
    found.copied += corpus.is_parallel() && sides.joint && left == right ? 1 : 0;
    found.unknown +=
        unknown_in(source, sides.unknown_source) + unknown_in(target, sides.unknown_target);
    found.ids += static_cast<double>(source.size() + target.size());
    found.repeated += known.emplace(std::move(left), std::move(right)).second ? 0 : 1;
  }
  return found;
}

double entropy_of_targets(const EncodedCorpus& corpus, const TextSides& sides) {
  std::map<int32_t, double> counts;
  double all = 0;
  for (int64_t i = 0; i < std::min(corpus.count(), sides.sequences); ++i) {
    // The first piece is given and not predicted.
    for (const int32_t id :
         corpus.target[i].subspan(std::min<size_t>(1, corpus.target[i].size()))) {
      ++counts[id];
      ++all;
    }
  }
  double entropy = 0;
  for (const auto& [id, count] : counts) entropy -= count / all * std::log(count / all);
  return entropy;
}

}  // namespace

TextFacts text_facts(const EncodedCorpus& corpus, const TextSides& sides) {
  const Copies copies = copies_in(corpus, sides);
  const auto count = static_cast<double>(std::max<int64_t>(corpus.count(), 1));
  const double seen = std::min(count, static_cast<double>(sides.sequences));
  const auto dropped = static_cast<double>(corpus.dropped_empty + corpus.dropped_long);
  return {.sequences = corpus.count(),
          .dropped_share = dropped / (dropped + count),
          .repeated_share = copies.repeated / seen,
          .copied_share = copies.copied / seen,
          .unknown_share = copies.unknown / std::max(copies.ids, 1.0),
          .length_correlation = length_correlation(corpus),
          .tokens_per_id = copies.ids / static_cast<double>(std::max<int64_t>(sides.vocabulary, 1)),
          .unigram_entropy = entropy_of_targets(corpus, sides)};
}

TrainingFacts schedule_facts(const Schedule& schedule, int64_t steps) {
  TrainingFacts facts{.first_lr = schedule(1), .steps = steps};
  for (int64_t step = 1; step <= std::max<int64_t>(steps, 1); ++step) {
    const double rate = schedule(step);
    if (rate <= facts.peak_lr) break;
    facts.peak_lr = rate;
    facts.warmup = step - 1;
  }
  return facts;
}

std::vector<Finding> findings(const Examination& examination) {
  std::vector<Finding> found;
  std::set<std::string_view> explained;
  for (const FindingRow& row : finding_rows()) {
    if (explained.contains(row.name)) continue;
    const std::optional<Evidence> evidence = row.look(examination);
    if (!evidence) continue;
    explained.insert(row.explains.begin(), row.explains.end());
    found.push_back({.name = row.name,
                     .reason = row.reason,
                     .source = row.source,
                     .severity = row.severity,
                     .evidence = *evidence,
                     .remedy = row.remedy(examination)});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Finding::severity);
  return found;
}

Outlook outlook(const std::vector<Finding>& found) {
  Severity worst = Severity::note;
  for (const Finding& each : found) worst = std::max(worst, each.severity);
  return worst == Severity::error     ? Outlook::will_diverge
         : worst == Severity::warning ? Outlook::fragile
                                      : Outlook::stable;
}

}  // namespace ballast
