#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <tuple>

#include "ballast/cli/load_verbs.h"
#include "ballast/cli/shared_flags.h"
#include "ballast/cli/verbs.h"
#include "ballast/decode/generate_options.h"

namespace ballast {
namespace {

std::string flag_of(std::string_view option) {
  std::string flag = "--" + std::string(option);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// A text as TOML has it.
std::string quoted(const std::string& text) {
  std::string toml = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') toml += '\\';
    if (code < 0x20 || code == 0x7F) {
      constexpr std::string_view digits = "0123456789abcdef";
      toml += std::string("\\u00") + digits[code / 16] + digits[code % 16];
    } else {
      toml += c;
    }
  }
  return toml + '"';
}

/// Every option of `[generate]` as a flag of the same name, which replaces it: the last one given
/// holds, and none of it is said twice.
void add_options(CLI::App& verb, std::vector<std::string>& overrides) {
  const auto replace = [&overrides](std::string_view name, const std::string& value) {
    overrides.push_back("generate." + std::string(name) + "=" + value);
  };
  for_each_field<GenerateOptions>([&](const auto& field) {
    const std::string flag = flag_of(field.name), help(field.help);
    const std::string_view name = field.name;
    using Value = std::decay_t<decltype(GenerateOptions().*field.member)>;
    if constexpr (std::is_same_v<Value, bool>) {
      verb.add_flag_callback(
          flag, [=] { replace(name, "true"); }, help);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      verb.add_option_function<std::vector<std::string>>(
              flag,
              [=](const std::vector<std::string>& texts) {
                std::string list;
                for (const std::string& text : texts) list += quoted(text) + ", ";
                replace(name, "[" + list + "]");
              },
              help + "; repeatable")
          ->allow_extra_args(false);
    } else {
      verb.add_option_function<std::string>(
          flag, [=](const std::string& value) { replace(name, value); }, help);
    }
  });
}

}  // namespace

void add_generate(CLI::App& app) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* verb =
      app.add_subcommand("generate", "Continue texts with a language model, as they are written");
  add_run(*verb, flags->run);
  verb->add_option("PROMPT", flags->prompts,
                   "Texts to continue, a word of the command line each; none: standard input");
  verb->add_option("--prompt-file", flags->prompt_file,
                   "File with the prompt, all of it but its last line break (-: standard input)");
  verb->add_flag("--prompt-lines", flags->prompt_lines,
                 "Each line of file or standard input is a prompt of its own");
  verb->add_flag("--echo", flags->echo, "Write each prompt before its text");
  verb->add_flag("--json", flags->json, "One object a line for each output, when it is done");
  add_options(*verb, flags->run.overrides);
  add_machine(*verb, flags->machine);
  verb->footer(
      "Example: ballast generate --run runs/lm --temperature 0.8 --top-p 0.95 \"Once upon a "
      "time\"");
  verb->callback([flags] { load_verbs().generate(*flags); });
}

}  // namespace ballast
