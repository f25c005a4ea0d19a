#include "ballast/train/instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "ballast/base/error.h"
#include "ballast/data/batch_stream.h"
#include "ballast/diagnose/signal.h"
#include "ballast/optim/schedules.h"
#include "ballast/store/file.h"
#include "ballast/train/evaluate.h"

namespace ballast {
namespace {

constexpr int64_t probe_tokens = 256;

/// A few sequences, at least the longest one.
Batch probe_of(const TrainingParts& parts) {
  const EncodedCorpus& corpus = *parts.train;
  int64_t longest = 0;
  for (int64_t i = 0; i < corpus.count(); ++i) {
    longest = std::max(longest, corpus.target_tokens(i) + 1);
    if (corpus.is_parallel()) longest = std::max(longest, corpus.source.length(i));
  }
  const int64_t tokens = std::min(parts.options.batch_tokens, std::max(probe_tokens, longest));
  return BatchStream(parts.train, {.tokens = tokens}, parts.seed).next().to(parts.model->device());
}

double number_of(const nlohmann::json& value) {
  return value.is_null() ? NAN : value.get<double>();
}

Extremes extremes_in(const Gauge& gauge, const nlohmann::json& told) {
  return {&gauge, number_of(told.at("smallest")), number_of(told.at("largest")),
          told.at("smallest_at").get<std::string>(), told.at("largest_at").get<std::string>()};
}

}  // namespace

TrainingFacts training_facts(const OptimizerChoice& optimizer, const ScheduleChoice& schedule,
                             const TrainOptions& options) {
  TrainingFacts facts =
      schedule_facts(make_schedule(schedule, peak_lr(optimizer), options.steps), options.steps);
  facts.update = update_size(optimizer, {.role = Role::feed_forward_in});
  facts.label_smoothing = options.label_smoothing;
  facts.clip_norm = options.clip_norm;
  facts.bf16 = options.precision == Precision::bf16;
  return facts;
}

bool Instruments::is_due(int64_t step) const {
  const int64_t every = parts_.options.instruments_every;
  const bool is_early = step < every && std::has_single_bit(static_cast<uint64_t>(step));
  return every > 0 && (is_early || step % every == 0);
}

std::vector<Extremes> Instruments::measure() {
  if (!probe_) probe_ = probe_of(parts_);
  Context& context = parts_.model->context();
  const int64_t micro_batch = context.micro_batch;
  Measurements found;
  measure_signal({*parts_.model, parts_.plan, *probe_, loss_options(parts_.options)}, found);
  context.micro_batch = micro_batch;
  return extremes_of(found);
}

nlohmann::ordered_json gauges_record(const std::vector<Extremes>& extremes) {
  nlohmann::ordered_json gauges;
  for (const Extremes& each : extremes) {
    gauges[std::string(each.gauge->name)] = {{"smallest", each.smallest},
                                             {"smallest_at", each.where_smallest},
                                             {"largest", each.largest},
                                             {"largest_at", each.where_largest}};
  }
  return {{"gauges", gauges}};
}

History history_in(const std::filesystem::path& log) {
  History history;
  std::istringstream lines(read_file(log));
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (record.is_discarded()) {
      throw StoreError(fmt::format("{}: has a line that is no record: {}", log.string(), line));
    }
    if (!record.contains("gauges")) continue;
    Sample sample{.step = record.at("step").get<int64_t>()};
    for (const Gauge& gauge : gauges()) {
      const auto told = record["gauges"].find(gauge.name);
      if (told != record["gauges"].end()) sample.extremes.push_back(extremes_in(gauge, *told));
    }
    history.push_back(std::move(sample));
  }
  return history;
}

}  // namespace ballast
