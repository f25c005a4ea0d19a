// Beam search over test sentences, ours beside a batched one of stock libtorch, in alternation.
//
// The weights are random: what is compared is speed, and both sides start from the same values. A
// random model hardly ever ends a sentence by itself, so each output is as long as its source.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ballast/cli/machine.h"
#include "ballast/decode/translate.h"
#include "ballast/kernels/bf16.h"
#include "bench/corpus.h"
#include "bench/models.h"
#include "bench/process.h"
#include "bench/sides.h"
#include "bench/statistics.h"
#include "bench/stock_search.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

struct Flags {
  std::filesystem::path corpus = default_corpus;
  int64_t sentences = 500, repeats = 3, beam = 4, batch_tokens = 4096;
  int threads = 0;
  bool json = false;
};

struct Measured {
  std::vector<double> ours, narrow, stock;  ///< seconds of all sentences; narrow: ours in bf16
  int64_t sentences = 0, tokens = 0, same = 0;
};

void add_flags(CLI::App& app, Flags& flags) {
  const auto positive = [&](const char* name, int64_t& value, const char* help) {
    app.add_option(name, value, help)->check(CLI::PositiveNumber)->capture_default_str();
  };
  positive("--sentences", flags.sentences, "Test sentences to translate");
  positive("--repeats", flags.repeats, "Times that each side translates them");
  positive("--beam", flags.beam, "Hypotheses kept for a sentence");
  positive("--batch-tokens", flags.batch_tokens, "Source tokens times beam decoded together");
  app.add_option("--threads", flags.threads, "Threads to compute with (0: all cores)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--corpus", flags.corpus, "Folder with train.en, train.de, test.en and test.de")
      ->capture_default_str();
  app.add_flag("--json", flags.json, "Print one JSON object");
}

DecodeOptions decode_options(const Flags& flags) {
  return {.beam = flags.beam, .max_ratio = 1, .max_extra = 1, .batch_tokens = flags.batch_tokens};
}

std::vector<std::vector<int64_t>> translated_by_ours(
    Transformer& model, const std::vector<std::vector<int64_t>>& sources,
    const DecodeOptions& options) {
  std::vector<std::vector<int64_t>> best;
  for (Hypotheses& found : translate(model, sources, options)) {
    best.push_back(std::move(found.front().tokens));
  }
  return best;
}

Measured measure(const Flags& flags) {
  const Recipe recipe = recipe_of("seq2seq-6-512", flags.corpus);
  const Tokenizer tokenizer = learn_vocabulary(recipe);
  const auto sources = test_sources(recipe, tokenizer, flags.sentences);
  const DecodeOptions options = decode_options(flags);
  const auto ours = build_model(recipe, tokenizer.size()).model;
  StockTransformer stock(*ours, tokenizer.pad_id());
  stock.eval();
  Measured measured{.sentences = static_cast<int64_t>(sources.size())};
  for (int64_t i = 0; i < flags.repeats; ++i) {
    const Stopwatch our_time;
    const auto our_output = translated_by_ours(*ours, sources, options);
    measured.ours.push_back(our_time.seconds());
    if (bf16_is_fast()) {
      DecodeOptions narrow = options;
      narrow.precision = Precision::bf16;
      const Stopwatch narrow_time;
      translated_by_ours(*ours, sources, narrow);
      measured.narrow.push_back(narrow_time.seconds());
    }
    const BlasThreads blas(at::get_num_threads());
    const Stopwatch stock_time;
    const auto stock_output = stock_translate(stock, sources, options);
    measured.stock.push_back(stock_time.seconds());
    fmt::print(stderr, "round {}: ours {:.2f} s, stock {:.2f} s\n", i + 1, measured.ours.back(),
               measured.stock.back());
    measured.tokens = measured.same = 0;
    for (std::size_t k = 0; k < sources.size(); ++k) {
      measured.tokens += static_cast<int64_t>(our_output[k].size()) + 1;
      measured.same += our_output[k] == stock_output[k];
    }
  }
  return measured;
}

nlohmann::ordered_json summary(const Flags& flags, const Measured& m) {
  const double ours = median(m.ours), stock = median(m.stock);
  const auto count = static_cast<double>(m.sentences);
  nlohmann::ordered_json json{{"model", "seq2seq-6-512"},
                              {"processor", processor_name()},
                              {"threads", at::get_num_threads()},
                              {"beam", flags.beam},
                              {"sentences", m.sentences},
                              {"output_tokens", m.tokens},
                              {"repeats", m.ours.size()},
                              {"ours_sentences_per_second", count / ours},
                              {"stock_sentences_per_second", count / stock},
                              {"ratio_float32", stock / ours},
                              {"same_hypotheses", static_cast<double>(m.same) / count}};
  if (!m.narrow.empty()) {
    json["ours_sentences_per_second_bf16"] = count / median(m.narrow);
    json["ratio_bf16"] = stock / median(m.narrow);
  }
  return json;
}

int run(const Flags& flags) {
  Machine{.threads = flags.threads, .device = "cpu"}.prepare();
  const nlohmann::ordered_json found = summary(flags, measure(flags));
  if (flags.json) {
    fmt::print("{}\n", found.dump(2));
    return 0;
  }
  for (const auto& [key, value] : found.items()) fmt::print("{:<28}{}\n", key, value.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Beam search over test sentences, ours beside stock libtorch"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  return guarded("decode", [&] { return run(flags); });
}
