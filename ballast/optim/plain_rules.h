#pragma once

#include <variant>

#include "ballast/optim/adafactor.h"
#include "ballast/optim/adam_rules.h"
#include "ballast/optim/layer_rules.h"
#include "ballast/optim/momentum_rules.h"

namespace ballast {

/// The rules that serve every parameter.
using PlainRule =
    std::variant<RAdam, Adam, AdamW, StableAdamW, Sgd, Lion, Adafactor, NovoGrad, Lamb>;

}  // namespace ballast
