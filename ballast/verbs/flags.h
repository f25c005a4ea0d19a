#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

// What the command line hands to a verb: plain values, so that flags can be read, and help given,
// by a program that has not loaded libtorch.

/// Where a verb computes. Never changes what it computes.
struct MachineFlags {
  int threads = 0;  ///< 0: all cores
  std::string device = "auto";
  bool slow_bf16 = false;  ///< compute bf16 also where float32 would be faster
  bool pooled = true;      ///< large tensors in memory of their own, see `pool_large_tensors`
};

/// A recipe file and the options that replace some of its own, as `a.b=value`.
struct RecipeFlags {
  std::filesystem::path recipe;
  std::vector<std::string> overrides;
};

/// A trained run, the one of its models that is meant (see `ModelSelection`), and overrides.
struct RunFlags {
  std::filesystem::path run;
  std::string model = "best";
  std::vector<std::string> overrides;
};

/// A recipe and the directory of its run, for `train` and `prepare`.
struct TrainingFlags {
  RecipeFlags recipe;
  std::filesystem::path run;
  MachineFlags machine;
};

struct InitFlags {
  RecipeFlags recipe;
  bool json = false;
  bool coordinate_check = false;        ///< in place of what one forward pass measures
  std::vector<int64_t> widths, depths;  ///< of its models; no word of either: its usual widths
  int64_t steps = 4;                    ///< updates of each
  MachineFlags machine;
};

/// What is written for a line: its translation; Moses' "number ||| text ||| features ||| score"; or
/// an object of JSON.
enum class TranslationFormat { text, moses, json };

struct TranslateFlags {
  std::vector<std::filesystem::path> runs;     ///< several vote
  std::vector<std::string> models = {"best"};  ///< of all runs, of each one, or several of the only
  std::vector<std::string> overrides;
  std::filesystem::path input = "-", output = "-";
  int64_t n_best = 1;
  std::optional<TranslationFormat> format;  ///< absent: text; moses where n_best > 1
  bool scores = false;                      ///< before each text, with a tab
  MachineFlags machine;
};

struct GenerateFlags {
  RunFlags run;
  std::vector<std::string> prompts;
  std::filesystem::path prompt_file;  ///< empty: standard input where there are no prompts
  bool prompt_lines = false;          ///< of file or standard input: one prompt a line
  bool echo = false;                  ///< write each prompt before its text
  bool json = false;
  MachineFlags machine;
};

struct EvaluateFlags {
  RunFlags run;
  std::vector<std::string> files;
  std::optional<int64_t> context, stride;              ///< of a language model's windows
  std::optional<std::filesystem::path> continuations;  ///< to score in place of files
  bool json = false;
  MachineFlags machine;
};

struct DoctorFlags {
  RecipeFlags recipe;
  bool json = false;
  bool all = false;       ///< every measurement, not what was found alone
  bool rehearse = false;  ///< make the first updates
  bool trial = false;     ///< rehearse, and try the remedies
  int64_t updates = 60;   ///< of a rehearsal
  MachineFlags machine;
};

struct AverageFlags {
  std::filesystem::path run, output;
  int64_t last = 3;
};

struct FoldFlags {
  RunFlags run;
  std::filesystem::path output;
};

}  // namespace ballast
