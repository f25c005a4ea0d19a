#pragma once

namespace CLI {
class App;
}

namespace ballast {

// Each adds its subcommand, with flags, help and callback.

void add_train(CLI::App& app);
void add_translate(CLI::App& app);
void add_generate(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_init(CLI::App& app);
void add_average(CLI::App& app);
void add_fold(CLI::App& app);
void add_doctor(CLI::App& app);
void add_methods(CLI::App& app);
void add_prepare(CLI::App& app);
void add_check_recipe(CLI::App& app);
void add_moments(CLI::App& app);

/// With sacreBLEU's flags and numbers.
void add_score(CLI::App& app);

}  // namespace ballast
