#include "ballast/cli/score_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ballast/cli/table.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

Json as_json(const ScoreResult& result) {
  Json json{{"score", result.score}, {"signature", result.signature}};
  if (const auto& found = result.confidence) {
    json.update({{"mean", found->mean}, {"half_width", found->half_width}});
  }
  if (result.p_value) json["p_value"] = *result.p_value;
  if (const auto& bleu = result.bleu) {
    json.update({{"counts", bleu->counts},
                 {"totals", bleu->totals},
                 {"precisions", bleu->precisions},
                 {"bp", bleu->bp},
                 {"sys_len", bleu->sys_len},
                 {"ref_len", bleu->ref_len}});
  }
  return json;
}

void add_scores(Json& json, const std::vector<ScoreResult>& scores) {
  for (const ScoreResult& each : scores) json[each.key] = as_json(each);
}

std::string details(const BleuScore& bleu) {
  std::vector<std::string> precisions;
  for (const double each : bleu.precisions) precisions.push_back(fmt::format("{:.1f}", each));
  const double ratio =
      bleu.ref_len == 0 ? 0 : static_cast<double>(bleu.sys_len) / static_cast<double>(bleu.ref_len);
  return fmt::format(" {} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     fmt::join(precisions, "/"), bleu.bp, ratio, bleu.sys_len, bleu.ref_len);
}

std::string cell(const ScoreResult& result, int width) {
  std::string text = fmt::format("{:.{}f}", result.score, width);
  if (const auto& found = result.confidence) {
    text += fmt::format(" ({:.{}f} ± {:.{}f})", found->mean, width, found->half_width, width);
  }
  if (result.p_value) {
    text += fmt::format(" p = {:.4f}{}", *result.p_value, *result.p_value < 0.05 ? "*" : "");
  }
  return text;
}

}  // namespace

std::string score_line(const ScoreResult& result, int width) {
  std::string tested;
  if (const auto& found = result.confidence; found && found->mean > 0) {
    tested = fmt::format(" (μ = {:.{}f} ± {:.{}f})", found->mean, width, found->half_width, width);
  }
  return fmt::format("{}|{} = {:.{}f}{}{}", result.title, result.signature, result.score, width,
                     tested, result.bleu ? details(*result.bleu) : "");
}

std::string score_table(const std::vector<SystemResult>& systems, int width) {
  Row head{"system"};
  std::string signatures;
  for (const ScoreResult& each : systems.front().scores) {
    head.push_back(each.title);
    signatures += fmt::format("{}|{}\n", each.title, each.signature);
  }
  std::vector<Row> rows{head};
  for (const SystemResult& system : systems) {
    Row& row = rows.emplace_back(Row{system.system});
    for (const ScoreResult& each : system.scores) row.push_back(cell(each, width));
  }
  return aligned(rows) + '\n' + signatures;
}

std::string score_object(const ScoreResult& result) { return as_json(result).dump(); }

std::string score_json(const SystemResult& system) {
  Json json;
  add_scores(json, system.scores);
  return json.dump(2);
}

std::string score_json(const std::vector<SystemResult>& systems) {
  Json list = Json::array();
  for (const SystemResult& system : systems) {
    Json& json = list.emplace_back(Json{{"system", system.system}});
    add_scores(json, system.scores);
  }
  return Json{{"systems", list}}.dump(2);
}

}  // namespace ballast
