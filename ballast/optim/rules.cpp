#include "ballast/optim/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace ballast {
namespace {

template <class Rule>
concept Sharing = requires(const Rule& rule, const ParameterFacts& facts) {
  rule.serves(facts);
  rule.rest;
};

template <class Rule>
constexpr bool is_complete() {
  constexpr bool selects = requires(const Rule& rule, const ParameterFacts& f) { rule.serves(f); };
  return UpdateRule<Rule> && (!selects || Sharing<Rule>);
}

template <class... Rules>
constexpr bool are_complete(const std::variant<Rules...>*) {
  return (is_complete<Rules>() && ...);
}
static_assert(are_complete(static_cast<const OptimizerChoice*>(nullptr)),
              "a row lacks a part of UpdateRule, or serves some parameters and has no `rest`");

bool serves(const OptimizerChoice& rule, const ParameterFacts& facts) {
  const auto asked = [&](const auto& each) {
    if constexpr (Sharing<std::decay_t<decltype(each)>>) {
      return each.serves(facts);
    } else {
      return true;
    }
  };
  return std::visit(asked, rule);
}

std::string_view falls_by(const OptimizerChoice& rule) {
  const auto asked = [](const auto& each) {
    if constexpr (requires { each.falls_by(); }) {
      return each.falls_by();
    } else {
      return std::string_view();
    }
  };
  return std::visit(asked, rule);
}

std::vector<RuleProblem> own_problems(const OptimizerChoice& rule) {
  const auto asked = [](const auto& each) {
    if constexpr (requires { each.problems(); }) {
      return each.problems();
    } else {
      return std::vector<RuleProblem>();
    }
  };
  return std::visit(asked, rule);
}

}  // namespace

std::vector<SharedRule> rules_of(const OptimizerChoice& choice) {
  std::vector<SharedRule> rules{{choice}};
  const auto add_rest = [&](const auto& rule) {
    if constexpr (Sharing<std::decay_t<decltype(rule)>>) {
      const auto add = [&](const auto& rest) { rules.push_back({rest, rest.lr / rule.lr}); };
      std::visit(add, rule.rest);
    }
  };
  std::visit(add_rest, choice);
  return rules;
}

size_t rule_for(std::span<const SharedRule> rules, const ParameterFacts& facts) {
  size_t place = 0;
  while (place + 1 < rules.size() && !serves(rules[place].rule, facts)) ++place;
  return place;
}

std::vector<StateTensor> state_of(const OptimizerChoice& rule, const ParameterFacts& facts) {
  return std::visit([&](const auto& each) { return each.state(facts); }, rule);
}

double peak_lr(const OptimizerChoice& choice) {
  return std::visit([](const auto& rule) { return rule.lr; }, choice);
}

UpdateSize update_size(const OptimizerChoice& choice, const ParameterFacts& facts) {
  const std::vector<SharedRule> rules = rules_of(choice);
  const auto size = [](const auto& rule) { return rule.update_size(); };
  return std::visit(size, rules[rule_for(rules, facts)].rule);
}

double least_state_per_weight(const OptimizerChoice& choice) {
  std::vector<int64_t> counts;
  for (const SharedRule& each : rules_of(choice)) {
    const std::vector<StateTensor> kept = state_of(each.rule, {});
    counts.push_back(std::ranges::count(kept, Per::element, &StateTensor::per));
  }
  return static_cast<double>(std::ranges::min(counts));
}

std::vector<RuleProblem> optimizer_problems(const OptimizerChoice& choice,
                                            const ScheduleChoice& schedule) {
  std::vector<RuleProblem> found;
  std::string prefix;
  for (const SharedRule& each : rules_of(choice)) {
    for (const RuleProblem& problem : own_problems(each.rule)) {
      found.push_back({prefix + problem.option, problem.text});
    }
    const std::string_view option = falls_by(each.rule);
    if (!option.empty() && falls(schedule)) {
      found.push_back({fmt::format("{}{}", prefix, option),
                       fmt::format("optimizer.{}{} lets the rate fall by itself, and schedule "
                                   "\"{}\" lets it fall too; choose schedule \"constant\", or "
                                   "turn that option off",
                                   prefix, option, info_of(schedule).name)});
    }
    prefix = "rest.";
  }
  return found;
}

}  // namespace ballast
