#include "ballast/cli/score_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "ballast/base/error.h"
#include "ballast/base/suggest.h"
#include "ballast/metrics/significance.h"

namespace ballast {
namespace {

const std::vector<std::string> metric_names{"bleu", "chrf", "ter"};

bool is_metric(const std::string& word) {
  return std::ranges::find(metric_names, word) != metric_names.end();
}

void add_text_flags(CLI::App& command, ScoreFlags& flags) {
  command.add_option("hypotheses", flags.systems,
                     "Text to score, one file a system; absent or -: standard input");
  command.add_option("-r,--reference", flags.references, "Reference; repeat it for several")
      ->required()
      ->allow_extra_args(false);
  command.add_option("-m,--metrics", flags.metrics, "Metrics to compute: bleu, chrf, ter")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->capture_default_str();
  command.add_flag("--sentence", flags.sentence, "A score for each line, of one metric");
  command.add_flag("--json", flags.json,
                   "Print one object, a key a metric; with --sentence, one object a line");
  command.add_option("-w,--width", flags.width, "Digits after the point in text")
      ->check(CLI::Range(0, 15))
      ->capture_default_str();
}

void add_test_flags(CLI::App& command, ScoreFlags& flags) {
  const auto add_samples = [&](const char* name, int64_t& value, const char* help) {
    command.add_option(name, value, help)
        ->check(CLI::Range(int64_t{2}, int64_t{100'000'000}))
        ->capture_default_str();
  };
  command.add_flag("--confidence", flags.confidence,
                   "One system: mean and 95 % interval by bootstrap");
  add_samples("--confidence-n", flags.confidence_samples, "Samples of --confidence");
  command.add_flag("--paired-bs", flags.paired_bootstrap,
                   "Several systems: paired bootstrap against the first");
  add_samples("--paired-bs-n", flags.bootstrap_samples, "Samples of --paired-bs");
  command.add_flag("--paired-ar", flags.paired_randomization,
                   "Several systems: paired approximate randomization against the first");
  add_samples("--paired-ar-n", flags.randomization_samples, "Samples of --paired-ar");
  command.add_option("--seed", flags.seed,
                     "Of the samples, or none for another each time; absent: SACREBLEU_SEED of the "
                     "environment, else 12345");
}

void add_bleu_flags(CLI::App& command, ScoreFlags& flags) {
  BleuOptions& bleu = flags.bleu;
  command
      .add_option("--tokenize", flags.tokenizer,
                  fmt::format("BLEU: how lines are cut into words: {}; NAME:PATH gives the "
                              "dictionary folder or model file of those that have one",
                              fmt::join(enum_names<BleuTokenization>(), ", ")))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--smooth-method",
          [&bleu](const std::string& name) {
            bleu.smooth_method = *enum_value<BleuSmoothing>(name);
          },
          "BLEU: what orders without a match count")
      ->check(CLI::IsMember(enum_names<BleuSmoothing>()))
      ->default_str(std::string(enum_name(bleu.smooth_method)));
  command
      .add_option("--smooth-value", bleu.smooth_value,
                  "BLEU: value of floor (default 0.1) and add-k (default 1)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--lowercase", bleu.lowercase, "BLEU: compare without case");
  command.add_flag("--use-effective-order", bleu.effective_order,
                   "BLEU: leave out orders that the text is too short for");
  command.add_option("--max-ngram-order", bleu.max_order, "BLEU: longest n-gram of words")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_flag("--force", flags.force,
                   "BLEU: do not warn of text that looks cut into words already");
}

void add_chrf_flags(CLI::App& command, ChrfOptions& chrf) {
  command.add_option("--chrf-char-order", chrf.char_order, "chrF: longest n-gram of characters")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      .add_option("--chrf-word-order", chrf.word_order,
                  "chrF: longest n-gram of words; 2 is chrF++")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--chrf-beta", chrf.beta, "chrF: weight of recall against precision")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_flag("--chrf-whitespace", chrf.whitespace, "chrF: white space is a character");
  command.add_flag("--chrf-lowercase", chrf.lowercase, "chrF: compare without case");
  command.add_flag("--chrf-eps-smoothing", chrf.eps_smoothing,
                   "chrF: orders that a side is too short for count almost 0, not nothing");
}

void add_ter_flags(CLI::App& command, TerOptions& ter) {
  command.add_flag("--ter-normalized", ter.normalized, "TER: set punctuation apart");
  command.add_flag("--ter-no-punct", ter.no_punct, "TER: leave punctuation out");
  command.add_flag("--ter-asian-support", ter.asian_support,
                   "TER: those two also for Chinese and Japanese");
  command.add_flag("--ter-case-sensitive", ter.case_sensitive, "TER: compare with case");
}

// `--metrics bleu chrf FILE`: a flag with several values swallows the file names after it.
void free_swallowed_files(ScoreFlags& flags) {
  std::vector<std::string>& words = flags.metrics;
  const auto first_file = std::find_if_not(words.begin(), words.end(), is_metric);
  for (auto word = first_file; word != words.end(); ++word) {
    std::error_code none;
    const bool is_file = *word == "-" || std::filesystem::exists(*word, none);
    if (is_file && !is_metric(*word) && first_file != words.begin()) continue;
    throw RecipeError(
        fmt::format("\"{}\" is no metric{}", *word, did_you_mean(*word, metric_names)));
  }
  flags.systems.insert(flags.systems.end(), first_file, words.end());
  words.erase(first_file, words.end());
}

void settle_tokenizer(ScoreFlags& flags) {
  const size_t colon = flags.tokenizer.find(':');
  const std::string name = flags.tokenizer.substr(0, colon);
  const auto tokenization = enum_value<BleuTokenization>(name);
  if (!tokenization) {
    throw RecipeError(fmt::format("\"{}\" is no tokenizer{}", name,
                                  did_you_mean(name, enum_names<BleuTokenization>())));
  }
  flags.bleu.tokenize = *tokenization;
  if (colon != name.npos) flags.bleu.tokenizer_path = flags.tokenizer.substr(colon + 1);
}

void settle_seed(ScoreFlags& flags) {
  if (flags.seed.empty()) {
    const char* given = std::getenv("SACREBLEU_SEED");
    flags.seed = given != nullptr ? given : "12345";
  }
  std::ranges::transform(flags.seed, flags.seed.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  check_seed(flags.seed);
}

void check_tests(const ScoreFlags& flags) {
  const bool paired = flags.paired_bootstrap || flags.paired_randomization;
  const auto refuse = [](bool wrong, const char* message) {
    if (wrong) throw RecipeError(message);
  };
  refuse(flags.paired_bootstrap && flags.paired_randomization,
         "--paired-bs and --paired-ar are two tests; give one of them");
  refuse(paired && flags.systems.size() == 1,
         "a paired test compares systems, but there is one file of hypotheses; give the baseline "
         "first, then the others");
  refuse(flags.confidence && flags.systems.size() > 1,
         "--confidence is for one system; for several give --paired-bs or --paired-ar");
  refuse(flags.sentence && flags.systems.size() > 1,
         "--sentence is for one system; give one file of hypotheses");
  refuse(flags.sentence && flags.metrics.size() > 1,
         "--sentence is for one metric; give one to --metrics");
  refuse(flags.sentence && (flags.confidence || paired),
         "a test of significance needs a corpus; leave out --sentence or the test");
}

void check_files(const ScoreFlags& flags) {
  std::set<std::string> seen;
  for (const std::string& file : flags.systems) {
    if (seen.insert(file).second) continue;
    throw RecipeError(fmt::format("{} is given twice; each system needs a file of its own", file));
  }
  const bool from_input = seen.contains("-");
  const auto references = std::ranges::count(flags.references, "-");
  if (references + (from_input ? 1 : 0) > 1) {
    throw RecipeError("standard input is given for two texts, but can be read once");
  }
}

}  // namespace

void add_score_flags(CLI::App& command, ScoreFlags& flags) {
  add_text_flags(command, flags);
  add_test_flags(command, flags);
  add_bleu_flags(command, flags);
  add_chrf_flags(command, flags.chrf);
  add_ter_flags(command, flags.ter);
}

void settle(ScoreFlags& flags) {
  free_swallowed_files(flags);
  if (flags.systems.empty()) flags.systems = {"-"};
  settle_tokenizer(flags);
  settle_seed(flags);
  check_tests(flags);
  check_files(flags);
  // sacreBLEU does so too: most sentences lack a match of some order.
  if (flags.sentence) flags.bleu.effective_order = true;
}

}  // namespace ballast
