#include "bench/step_report.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <numeric>

#include "bench/process.h"
#include "bench/statistics.h"

namespace ballast::bench {
namespace {

using Json = nlohmann::ordered_json;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Figures of our side in one precision, without its name in the keys.
Json figures_of(const OurTimes& ours, const StepMeasurement& measured) {
  const double seconds = median(ours.total), linear = median(ours.linear);
  const double limit = linear + median(ours.attention);
  const auto steps = static_cast<double>(measured.stock.size());
  const double passes = measured.pass_bytes / steps / median(measured.copied);
  const auto peak = static_cast<double>(ours.peak);
  return {{"ratio", median(measured.stock) / seconds},
          {"limit_share", limit / seconds},
          {"limit_share_linear", linear / seconds},
          {"memory_ratio", peak / static_cast<double>(measured.stock_peak)},
          {"ours_tokens_per_second", sum(measured.tokens) / sum(ours.total)},
          {"ours_seconds", seconds},
          {"ours_forward_seconds", median(ours.forward)},
          {"ours_backward_seconds", median(ours.backward)},
          {"ours_update_seconds", median(ours.update)},
          {"ours_peak_bytes", ours.peak},
          {"limit_seconds", limit},
          {"limit_linear_seconds", linear},
          {"limit_gflops", 1e-9 * measured.operations / (sum(ours.linear) + sum(ours.attention))},
          {"roof_seconds", limit + passes},
          {"roof_share", (limit + passes) / seconds},
          {"stock_to_roof", median(measured.stock) / (limit + passes)},
          {"ours_loss", ours.gradient.loss},
          {"ours_gradient_norm", ours.gradient.norm}};
}

std::string rows_of(const Json& s, const std::string& precision) {
  constexpr double mebibyte = 1 << 20;
  const auto number = [&](const std::string& key) {
    return s.at(key + "_" + precision).get<double>();
  };
  std::string text = fmt::format(
      "ours {:<15}{:>10.4f}{:>11.0f}{:>10.0f}   loss {:.6f}, gradient norm {:.6f}\n", precision,
      number("ours_seconds"), number("ours_tokens_per_second"),
      number("ours_peak_bytes") / mebibyte, number("ours_loss"), number("ours_gradient_norm"));
  for (const std::string part : {"forward", "backward", "update"}) {
    text += fmt::format("  {:<18}{:>10.4f}\n", part, number("ours_" + part + "_seconds"));
  }
  text += fmt::format("  {:<18}{:>10.4f}   at {:.0f} GFLOP/s\n", "limit", number("limit_seconds"),
                      number("limit_gflops"));
  text += fmt::format("  {:<18}{:>10.4f}\n", "limit, linear only", number("limit_linear_seconds"));
  text += fmt::format(
      "  {:<18}{:>10.4f}   {:.3g} operations at the limit's rate, then {:.2f} GB at {:.1f} GB/s; "
      "share {:.1f} %, stock : roof {:.2f}\n",
      "roof", number("roof_seconds"), s.at("product_operations").get<double>(),
      1e-9 * s.at("pass_bytes").get<double>(), 1e-9 * s.at("copied_bytes_per_second").get<double>(),
      100 * number("roof_share"), number("stock_to_roof"));
  text += fmt::format(
      "  ours : stock {:.2f}, share of the limit {:.1f} % ({:.1f} % linear only), memory {:.2f}\n",
      number("ratio"), 100 * number("limit_share"), 100 * number("limit_share_linear"),
      number("memory_ratio"));
  return text;
}

}  // namespace

Json summary(const StepRequest& request, const StepMeasurement& measured) {
  Json json{{"model", request.model},
            {"processor", processor_name()},
            {"threads", at::get_num_threads()},
            {"batch_tokens", request.batch_tokens},
            {"steps", measured.stock.size()}};
  for (const OurTimes& ours : measured.ours) {
    const Json figures = figures_of(ours, measured);
    for (const auto& [key, value] : figures.items()) {
      json[key + "_" + ours.precision] = value;
    }
  }
  json["memory_ratio"] = json.value("memory_ratio_" + measured.ours.front().precision, 0.0);
  const auto steps = static_cast<double>(measured.stock.size());
  json["product_operations"] = measured.operations / steps;
  json["pass_bytes"] = measured.pass_bytes / steps;
  json["copied_bytes_per_second"] = median(measured.copied);
  json["stock_tokens_per_second"] = sum(measured.tokens) / sum(measured.stock);
  json["stock_setting"] = measured.stock_setting;
  json["stock_seconds"] = median(measured.stock);
  json["stock_peak_bytes"] = measured.stock_peak;
  json["stock_loss"] = measured.stock_gradient.loss;
  json["stock_gradient_norm"] = measured.stock_gradient.norm;
  return json;
}

std::string table_of(const Json& s) {
  std::string text = fmt::format(
      "{}, {} threads, {}\nmedians of {} steps in turn, batches of {} target tokens; loss and "
      "gradient norm before the first, without dropout\n\n{:<20}{:>10}{:>11}{:>10}\n",
      s.at("model").get<std::string>(), s.at("threads").get<int>(),
      s.at("processor").get<std::string>(), s.at("steps").get<int>(),
      s.at("batch_tokens").get<int>(), "", "s/step", "tokens/s", "peak MiB");
  text += fmt::format("{:<20}{:>10.4f}{:>11.0f}{:>10.0f}   loss {:.6f}, gradient norm {:.6f}\n",
                      "stock float32", s.at("stock_seconds").get<double>(),
                      s.at("stock_tokens_per_second").get<double>(),
                      s.at("stock_peak_bytes").get<double>() / (1 << 20),
                      s.at("stock_loss").get<double>(), s.at("stock_gradient_norm").get<double>());
  text += fmt::format("  {}\n", s.at("stock_setting").get<std::string>());
  for (const std::string precision : {"float32", "bf16"}) {
    if (s.contains("ratio_" + precision)) text += rows_of(s, precision);
  }
  return text;
}

}  // namespace ballast::bench
