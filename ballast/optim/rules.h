#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ballast/optim/muon.h"
#include "ballast/optim/plain_rules.h"
#include "ballast/optim/rule.h"
#include "ballast/optim/schedules.h"

namespace ballast {

/// Every optimizer a recipe can name: a rule (`UpdateRule`). What it is for is known inside its row
/// and nowhere else.
using OptimizerChoice =
    std::variant<RAdam, Adam, AdamW, StableAdamW, Sgd, Lion, Adafactor, NovoGrad, Lamb, Muon>;

/// One of the rules that an optimizer shares its parameters out to.
struct SharedRule {
  OptimizerChoice rule;
  double lr_ratio = 1;  ///< its peak learning rate over the optimizer's
};

/// The rules of an optimizer, its own first, then `rest`.
std::vector<SharedRule> rules_of(const OptimizerChoice& choice);

/// Place among the rules of the one that serves a parameter: the first that serves it; the last
/// serves every one.
size_t rule_for(std::span<const SharedRule> rules, const ParameterFacts& facts);

/// What the rule keeps of a parameter from step to step, in the order of `ParameterStep::state`.
std::vector<StateTensor> state_of(const OptimizerChoice& rule, const ParameterFacts& facts);

/// The peak learning rate of a choice; that of `rest` is an option of its own.
double peak_lr(const OptimizerChoice& choice);

/// How the update of a parameter follows the size of its gradient.
UpdateSize update_size(const OptimizerChoice& choice, const ParameterFacts& facts);

/// Numbers that an optimizer keeps for each number of a large hidden matrix, at the least: 2 for
/// Adam, 1 for Lion, 0 for Adafactor. Of several rules the smallest.
double least_state_per_weight(const OptimizerChoice& choice);

/// Options that contradict each other: within a rule, or a rate that falls by itself under a
/// schedule that falls too. `option` is a name within the optimizer, such as `rest.nesterov`.
std::vector<RuleProblem> optimizer_problems(const OptimizerChoice& choice,
                                            const ScheduleChoice& schedule);

}  // namespace ballast
