#include "ballast/train/journal.h"

#include <fmt/format.h>

namespace ballast {

Journal::Journal(const RunDirectory& directory, int64_t resumed_step, std::ostream& out,
                 Terminal terminal, int64_t last_step)
    : log_(directory.file("log.jsonl"), resumed_step),
      events_(directory.path(), resumed_step),
      progress_(out, terminal, last_step) {}

void Journal::step(int64_t step, const StepReport& report) {
  log_.append(step, {{"loss", report.loss},
                     {"nll", report.nll},
                     {"lr", report.lr},
                     {"gradient_norm", report.gradient_norm},
                     {"tokens", report.tokens},
                     {"epoch", report.epoch}});
  events_.scalar(step, "train/loss", report.loss);
  events_.scalar(step, "train/nll", report.nll);
  events_.scalar(step, "train/learning_rate", report.lr);
  events_.scalar(step, "train/gradient_norm", report.gradient_norm);
}

void Journal::gauges(int64_t step, const std::vector<Extremes>& extremes) {
  log_.append(step, gauges_record(extremes));
  for (const Extremes& each : extremes) {
    events_.scalar(step, fmt::format("gauges/{}/largest", each.gauge->name), each.largest);
    events_.scalar(step, fmt::format("gauges/{}/smallest", each.gauge->name), each.smallest);
  }
}

void Journal::validation(int64_t step, const nlohmann::ordered_json& values,
                         std::string_view text) {
  log_.append(step, values);
  log_.sync();
  for (const auto& [name, value] : values.items()) events_.scalar(step, name, value);
  progress_.note(text);
}

}  // namespace ballast
