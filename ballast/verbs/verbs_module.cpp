#include "ballast/verbs/module.h"
#include "ballast/verbs/verbs.h"

extern "C" __attribute__((visibility("default"))) const ballast::Verbs* ballast_verbs_entry() {
  namespace verbs = ballast::verbs;
  static constexpr ballast::Verbs made{verbs::train,     verbs::prepare,  verbs::init,
                                       verbs::translate, verbs::generate, verbs::evaluate,
                                       verbs::average,   verbs::fold,     verbs::doctor};
  return &made;
}
