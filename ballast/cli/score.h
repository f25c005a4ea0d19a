#pragma once

namespace CLI {
class App;
}

namespace ballast {

/// Adds the verb `score`: BLEU, chrF and TER of a file of hypotheses, with sacreBLEU's flags and
/// numbers.
void add_score(CLI::App& app);

}  // namespace ballast
