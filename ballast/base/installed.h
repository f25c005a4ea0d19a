#pragma once

#include <functional>
#include <string>

namespace ballast {

/// Looks for a module of this program and gives each file of that name to `attempt`, which opens it
/// and returns nothing, or why it cannot: beside the running program, in `../lib/ballast` and the
/// library folder of the installation from there, in the build folder, in the configured library
/// folder, and last, by its name alone, where the dynamic linker looks. Raises StoreError with that
/// list and the reasons when none will do.
void open_module(const std::string& name,
                 const std::function<std::string(const std::string& file)>& attempt);

}  // namespace ballast
