#pragma once

#include <span>
#include <string>

#include "ballast/options/document.h"

namespace ballast {

/// The document with every `train.steps=200` set, in order, before anything is read from it; what
/// is wrong with an override itself is added to its problems. The value is TOML (`200`, `true`,
/// `["a", "b"]`, `{ kind = "admin" }`), and what is not TOML is taken as text, so that
/// `model.norm=rms_norm` needs no quotes. Setting a choice as a whole (`model.residual=post_norm`)
/// drops the options the file gave it; `model.residual.kind=post_norm` keeps them.
Document with_overrides(Document document, std::span<const std::string> overrides);

}  // namespace ballast
