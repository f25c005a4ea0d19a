#include <fmt/format.h>

#include "ballast/recipe/resolve.h"
#include "ballast/verbs/boundary.h"
#include "ballast/verbs/machine.h"
#include "ballast/verbs/prepared.h"
#include "ballast/verbs/stop_signals.h"
#include "ballast/verbs/verbs.h"

namespace ballast::verbs {
namespace {

void run_prepare(const TrainingFlags& flags) {
  const StopSignals signals;
  set_up_machine(flags.machine);
  const Recipe recipe = recipe_for(flags.recipe, flags.run);
  prepared_run(recipe, flags.run, signals.token());
  fmt::print("prepared in {}\n", flags.run.string());
}

}  // namespace

void prepare(const TrainingFlags& flags) {
  at_boundary(lower_for_reading, [&] { run_prepare(flags); });
}

}  // namespace ballast::verbs
