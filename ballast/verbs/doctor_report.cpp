#include "ballast/verbs/doctor_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ballast/train/instruments.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json all = Json::array();
  for (const double value : values) all.push_back(number(value));
  return all;
}

Json json_of(const TriedRemedy& tried) {
  if (!tried.refusal.empty()) return {{"override", tried.override}, {"refusal", tried.refusal}};
  return {{"override", tried.override},
          {"helps", tried.helps},
          {"loss", number(tried.loss)},
          {"findings", tried.others}};
}

Json json_of(const ReportedFinding& each) {
  const auto& [finding, tried] = each;
  Json row = {{"name", finding.name},
              {"severity", enum_name(finding.severity)},
              {"where", finding.evidence.where},
              {"what", finding.evidence.what},
              {"measured", number(finding.evidence.measured)},
              {"expected", number(finding.evidence.expected)},
              {"reason", finding.reason},
              {"source", finding.source},
              {"remedy", finding.remedy}};
  for (const TriedRemedy& remedy : tried) row["tried"].push_back(json_of(remedy));
  return row;
}

Json json_of(const Rehearsal& rehearsal) {
  Json history = Json::array();
  for (const Sample& sample : rehearsal.history) {
    Json record = {{"update", sample.step}};
    record.update(gauges_record(sample.extremes));
    history.push_back(record);
  }
  return {{"losses", numbers(rehearsal.losses)},
          {"gradient_norms", numbers(rehearsal.gradients)},
          {"history", history}};
}

Json json_of(const TrainingFacts& facts) {
  return {{"peak_lr", facts.peak_lr},
          {"first_lr", facts.first_lr},
          {"warmup", facts.warmup},
          {"steps", facts.steps},
          {"follows_gradient", facts.update == UpdateSize::gradient},
          {"clip_norm", facts.clip_norm}};
}

Json json_of(const TextFacts& facts) {
  return {{"sequences", facts.sequences},         {"unigram_entropy", facts.unigram_entropy},
          {"dropped_share", facts.dropped_share}, {"repeated_share", facts.repeated_share},
          {"copied_share", facts.copied_share},   {"unknown_share", facts.unknown_share},
          {"tokens_per_id", facts.tokens_per_id}};
}

Json json_of(const Measurement& each) {
  Json row = {{"quantity", enum_name(each.quantity)},
              {"where", each.spot.name()},
              {"value", number(each.value)}};
  if (each.expected) row["expected"] = number(*each.expected);
  return row;
}

void print_tried(const TriedRemedy& tried, const Examination& examination) {
  fmt::print("  {:<9} --set {}: ", tried.helps ? "remedy" : "no help", tried.override);
  if (!tried.refusal.empty()) {
    fmt::print("refused, {}\n", tried.refusal);
    return;
  }
  if (tried.helps) fmt::print("tried, the finding is gone, ");
  fmt::print("loss {:.4g} instead of {:.4g} after the rehearsal", tried.loss,
             rehearsed_loss(*examination.rehearsal).last);
  if (!tried.others.empty()) fmt::print("; found with it: {}", fmt::join(tried.others, ", "));
  fmt::print("\n");
}

void print_finding(const ReportedFinding& each, const Examination& examination) {
  const Finding& found = each.finding;
  const Evidence& evidence = found.evidence;
  fmt::print("\n{}: {}\n", enum_name(found.severity), found.name);
  fmt::print("  where     {}\n", evidence.where);
  fmt::print("  measured  {:.4g}, expected about {:.4g}: {}\n", evidence.measured,
             evidence.expected, evidence.what);
  fmt::print("  reason    {}{}\n", found.reason,
             found.source.empty() ? "" : fmt::format(" ({})", found.source));
  for (const TriedRemedy& tried : each.tried) print_tried(tried, examination);
  if (each.tried.empty() && !found.remedy.empty()) {
    fmt::print("  remedy    --set {}\n", fmt::join(found.remedy, ", or --set "));
  }
}

}  // namespace

Json doctor_json(const Examination& examination, const std::vector<ReportedFinding>& found,
                 Outlook outlook) {
  Json causes = Json::array(), measured = Json::array();
  for (const ReportedFinding& each : found) causes.push_back(json_of(each));
  for (const Measurement& each : examination.measurements.all()) measured.push_back(json_of(each));
  Json all = {{"verdict", enum_name(outlook)}, {"findings", causes}};
  if (examination.sharpness) {
    all["sharpness"] = number(examination.sharpness->largest);
    all["largest_stable_lr"] = number(examination.sharpness->largest_rate);
  }
  if (examination.rehearsal) {
    all["rehearsal"] = json_of(*examination.rehearsal);
  }
  all["training"] = json_of(examination.training);
  all["text"] = json_of(examination.text);
  all["measurements"] = measured;
  return all;
}

void print_doctor_page(const Examination& examination, const std::vector<ReportedFinding>& found,
                       Outlook outlook) {
  fmt::print("verdict: {}\n", enum_name(outlook));
  const auto print = [&](const char* name, Quantity quantity, std::optional<Point> point = {}) {
    const Measurement* least = examination.measurements.smallest(quantity, point);
    const Measurement* most = examination.measurements.largest(quantity, point);
    if (most == nullptr) return;
    fmt::print("  {:<34} {:>10.4g} to {:.4g}\n", name, least->value, most->value);
  };
  print("loss at the start, nats", Quantity::loss);
  print("second moment of the stream", Quantity::second_moment, Point::stream);
  print("gradient at the stream", Quantity::gradient, Point::stream);
  print("deviation of attention's logits", Quantity::logit_deviation);
  print("entropy of attention", Quantity::entropy);
  print("a branch's share of its sum", Quantity::own_share);
  if (examination.sharpness) {
    fmt::print("  {:<34} {:>10.4g}, the recipe's peak {:.4g}\n", "largest stable first rate",
               examination.sharpness->largest_rate, examination.training.peak_lr);
  }
  if (examination.rehearsal) {
    const RehearsedLoss loss = rehearsed_loss(*examination.rehearsal);
    fmt::print("  {:<34} {:>10.4g} to {:.4g}, of {} updates\n", "loss of the rehearsal, nats",
               loss.first, loss.last, examination.rehearsal->losses.size());
  }
  for (const ReportedFinding& each : found) print_finding(each, examination);
  if (found.empty()) fmt::print("nothing found\n");
}

void print_measurements(const Examination& examination) {
  fmt::print("\n{:<16} {:<48} {:>12} {:>12}\n", "quantity", "where", "measured", "expected");
  for (const Measurement& each : examination.measurements.all()) {
    fmt::print("{:<16} {:<48} {:>12.4g} {:>12}\n", enum_name(each.quantity), each.spot.name(),
               each.value, each.expected ? fmt::format("{:.4g}", *each.expected) : "");
  }
}

}  // namespace ballast
