#include "ballast/decode/translate.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/data/text.h"
#include "ballast/decode/ensemble.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

void check_lengths(const Sources& sources, std::span<const Transformer* const> models) {
  const int64_t longest = longest_sequence(models);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (std::cmp_less_equal(sources[i].size(), longest)) continue;
    throw DataError(fmt::format("source {} has {} tokens, and the model positions for {}; cut it",
                                i + 1, sources[i].size(), longest));
  }
}

}  // namespace

// A batch keeps to one thread, for threads that shared each of its many small operations would
// mostly wait for each other; a single batch has all of them.
std::vector<Hypotheses> translate(std::span<Transformer* const> models, const Sources& sources,
                                  const DecodeOptions& options, const TranslationProgress& progress,
                                  const SpecialIds& special) {
  const ModelsAtWork work(models, options.precision);
  check_lengths(sources, work.models());
  const SourceBatches cut = cut_batches(sources, options, work.threads());
  std::vector<Hypotheses> results(sources.size());
  std::mutex counting;
  size_t done = 0;
  const auto translate_one = [&](std::span<const size_t> places) {
    const std::vector<int64_t> numbers(places.begin(), places.end());
    const Packed batch = pack(sources, places, work.device());
    auto found = search({work.models(), batch, numbers}, options, special);
    for (size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(found[i]);
    const std::lock_guard lock(counting);
    done += places.size();
    if (progress) progress(static_cast<int64_t>(done));
  };
  if (work.device().is_cpu()) {
    for_each_task(static_cast<int64_t>(cut.batches.size()),
                  [&](int64_t batch) { translate_one(cut.batches[batch]); });
  } else {
    for (const auto places : cut.batches) translate_one(places);
  }
  return results;
}

std::vector<Hypotheses> translate(Transformer& model, const Sources& sources,
                                  const DecodeOptions& options, const TranslationProgress& progress,
                                  const SpecialIds& special) {
  Transformer* const models[] = {&model};
  return translate(models, sources, options, progress, special);
}

std::vector<std::string> best_texts(const std::vector<Hypotheses>& found, const Tokenizer& target) {
  std::vector<std::string> texts;
  for (const Hypotheses& each : found) {
    texts.push_back(each.empty() ? std::string() : valid_utf8(target.decode(each.front().tokens)));
  }
  return texts;
}

}  // namespace ballast
