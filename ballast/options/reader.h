#pragma once

#include <vector>

#include "ballast/options/document.h"
#include "ballast/options/schema.h"

namespace ballast {

/// Sets the options of the struct at `value`, described by `schema`, that the document names; the
/// others keep their values. Returns everything that is wrong: the document's own problems, unknown
/// options and kinds (with the nearest known word), wrong types, values out of bounds. When that is
/// not empty the struct is half read and of no use.
///
/// A choice is written `norm = "rms_norm"` or `norm = { kind = "rms_norm", epsilon = 1e-6 }`. A
/// kind other than the one held starts from its own defaults; without `kind`, or with the kind
/// already held, the present values are kept. The word "none" unsets an optional value. Numbers
/// accept whole numbers, and whole numbers accept 1e5, up to 2^53 if written so. `schema` is a
/// table's.
std::vector<Problem> read_document(const Document& document, const Schema& schema, void* value);

}  // namespace ballast
