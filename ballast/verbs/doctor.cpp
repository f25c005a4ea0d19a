#include <fmt/format.h>

#include "ballast/base/error.h"
#include "ballast/recipe/memory.h"
#include "ballast/recipe/resolve.h"
#include "ballast/recipe/trial.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/doctor_report.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

std::vector<ReportedFinding> reported(const Case& examined, bool with_trial) {
  std::vector<ReportedFinding> all;
  for (const Finding& each : findings(examined.examination)) {
    all.push_back({each});
    if (with_trial && each.severity > Severity::note) {
      all.back().tried = try_remedies(each, examined);
    }
  }
  return all;
}

void run_doctor(const DoctorFlags& flags) {
  const torch::Device device = set_up_machine(flags.machine);
  const Recipe recipe = load_recipe(flags.recipe.recipe, flags.recipe.overrides);
  refuse_too_large(recipe, {}, Purpose::use);
  const ExaminedText text = examined_text(recipe, {{}, print_remark});
  refuse_empty(recipe, "data.train", {recipe.data.train, {}}, *text.corpus);
  const ExaminationEffort effort{.rehearsal = flags.rehearse || flags.trial ? flags.updates : 0};
  const Examination examination = examination_of(recipe, text, effort, device);
  const auto with = [&](const std::string& override) {
    std::vector<std::string> overrides = flags.recipe.overrides;
    overrides.push_back(override);
    return load_recipe(flags.recipe.recipe, overrides);
  };
  const std::vector<ReportedFinding> found =
      reported({recipe, text, examination, effort, device, with}, flags.trial);
  const Outlook verdict = outlook(findings(examination));
  if (flags.json) {
    fmt::print("{}\n", doctor_json(examination, found, verdict).dump(2));
  } else {
    print_doctor_page(examination, found, verdict);
    if (flags.all) print_measurements(examination);
  }
  if (verdict == Outlook::will_diverge) {
    throw Stopped(fmt::format("expected not to train: {}", found.front().finding.name));
  }
}

}  // namespace

void doctor(const DoctorFlags& flags) {
  at_boundary(lower_for_training, [&] { run_doctor(flags); });
}

}  // namespace ballast::verbs
