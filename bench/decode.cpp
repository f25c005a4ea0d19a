// Beam search over test sentences, ours beside a batched one of stock libtorch, in alternation.
//
// The weights are random: what is compared is speed, and both sides start from the same values. A
// random model hardly ever ends a sentence by itself, so each output is as long as its source.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "ballast/decode/translate.h"
#include "ballast/kernels/bf16.h"
#include "ballast/verbs/machine.h"
#include "bench/corpus.h"
#include "bench/limit.h"
#include "bench/models.h"
#include "bench/setting.h"
#include "bench/statistics.h"
#include "bench/stock_search.h"

namespace {

using namespace ballast;
using namespace ballast::bench;

using Sentences = std::vector<std::vector<int64_t>>;

constexpr const char* model_name = "seq2seq-6-512";

struct Flags {
  std::filesystem::path corpus = default_corpus;
  int64_t sentences = 500, repeats = 3, beam = 4, batch_tokens = 4096;
  int threads = 0;
  bool json = false;
  SideRequest side;
};

struct Measured {
  std::vector<double> ours, stock, bf16;  ///< seconds of all sentences; bf16 is ours too
  std::vector<double> limit, limit_bf16;  ///< of the products alone
  double operations = 0;                  ///< of the products
  std::string stock_setting;
  Sentences our_output, stock_output;
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
  flags.side.add_to(app);
}

Sentences sources_of(const Flags& flags, const EncodedCorpus& corpus) {
  Sentences sources;
  for (int64_t i = 0; i < std::min(flags.sentences, corpus.count()); ++i) {
    sources.emplace_back(corpus.source[i].begin(), corpus.source[i].end());
  }
  return sources;
}

/// In the process of one side: translates as many of the first sentences as it is asked to.
void serve_translations(Sentences sources, const std::function<Sentences(const Sentences&)>& side) {
  serve([&](const nlohmann::json& count) -> nlohmann::json {
    sources.resize(std::min(sources.size(), count.get<std::size_t>()));
    const Stopwatch watch;
    const Sentences output = side(sources);
    return {watch.seconds(), output};
  });
}

void serve_side(const Flags& flags) {
  const Encoded data = flags.side.read();
  const DecodeOptions options{
      .beam = flags.beam,
      .max_ratio = 1,
      .max_extra = 1,
      .batch_tokens = flags.batch_tokens,
      .precision = flags.side.side == "bf16" ? Precision::bf16 : Precision::float32};
  const Recipe recipe = recipe_of(model_name, flags.corpus);
  const auto model = build_model(recipe, {data.vocabulary_size, data.vocabulary_size}).model;
  const Sentences sources = sources_of(flags, *data.corpus);
  if (flags.side.side != "stock") {
    return serve_translations(sources, [&](const Sentences& asked) {
      Sentences best;
      for (Hypotheses& found : translate(*model, asked, options)) {
        best.push_back(std::move(found.front().tokens));
      }
      return best;
    });
  }
  StockTransformer stock(*model, SpecialIds{}.padding);
  stock.eval();
  serve_translations(
      sources, [&](const Sentences& asked) { return stock_translate(stock, asked, options); });
}

std::unique_ptr<Peer> peer_of(const std::string& side, const Flags& flags, const Handed& handed,
                              const Setting& setting) {
  const auto text = [](int64_t number) { return fmt::format("{}", number); };
  std::vector<std::string> arguments = handed.arguments();
  for (const std::string& word :
       {std::string("--side"), side, std::string("--sentences"), text(flags.sentences),
        std::string("--beam"), text(flags.beam), std::string("--batch-tokens"),
        text(flags.batch_tokens), std::string("--threads"), text(flags.threads)}) {
    arguments.push_back(word);
  }
  return side_process(arguments, setting);
}

double take(Peer& peer, int64_t sentences, Sentences& output) {
  const nlohmann::json answer = peer.ask(sentences);
  output = answer[1].get<Sentences>();
  return answer[0];
}

/// The products of linear layers that made this output.
std::vector<Product> products_of(const Flags& flags, const Encoded& data, const Sentences& output) {
  const auto model =
      build_model(recipe_of(model_name, flags.corpus), {data.vocabulary_size, data.vocabulary_size})
          .model;
  const Sentences sources = sources_of(flags, *data.corpus);
  std::vector<Searched> sentences;
  for (std::size_t i = 0; i < output.size(); ++i) {
    sentences.push_back(
        {static_cast<int64_t>(sources[i].size()), static_cast<int64_t>(output[i].size()) + 1});
  }
  return search_products(*model, sentences, flags.beam);
}

Measured measure(const Flags& flags) {
  const Recipe recipe = recipe_of(model_name, flags.corpus);
  const Encoded data = encoded(recipe, recipe.data.test);
  const Handed handed(data);
  Measured m;
  const Setting best = best_stock_setting([&](const Setting& setting) {
    const auto peer = peer_of("stock", flags, handed, setting);
    return take(*peer, std::min<int64_t>(50, flags.sentences), m.stock_output);
  });
  m.stock_setting = best.name;
  const auto ours = peer_of("ours", flags, handed, our_setting());
  const auto stock = peer_of("stock", flags, handed, best);
  const auto bf16 = bf16_is_fast() ? peer_of("bf16", flags, handed, our_setting()) : nullptr;
  using Type = dnnl::memory::data_type;
  ProductTimer wide(Type::f32), narrow(Type::bf16);
  std::vector<Product> products;  // the same in every round, as the output is
  for (int64_t i = 0; i < flags.repeats; ++i) {
    m.ours.push_back(take(*ours, flags.sentences, m.our_output));
    m.stock.push_back(take(*stock, flags.sentences, m.stock_output));
    Sentences of_bf16;
    if (bf16) m.bf16.push_back(take(*bf16, flags.sentences, of_bf16));
    if (products.empty()) products = products_of(flags, data, m.our_output);
    m.operations = operations_of(products);
    m.limit.push_back(wide.seconds(products));
    if (bf16) m.limit_bf16.push_back(narrow.seconds(products));
    fmt::print(stderr, "ours {:.2f} s, stock {:.2f} s, limit {:.2f} s\n", m.ours.back(),
               m.stock.back(), m.limit.back());
  }
  return m;
}

nlohmann::ordered_json summary(const Flags& flags, const Measured& m) {
  const double ours = median(m.ours), stock = median(m.stock);
  const auto count = static_cast<double>(m.our_output.size());
  std::size_t tokens = 0, same = 0;
  for (std::size_t i = 0; i < m.our_output.size(); ++i) {
    tokens += m.our_output[i].size() + 1;
    same += m.our_output[i] == m.stock_output.at(i) ? 1 : 0;
  }
  nlohmann::ordered_json json{{"model", model_name},
                              {"processor", processor_name()},
                              {"threads", at::get_num_threads()},
                              {"beam", flags.beam},
                              {"sentences", m.our_output.size()},
                              {"output_tokens", tokens},
                              {"repeats", m.ours.size()},
                              {"ours_sentences_per_second", count / ours},
                              {"stock_sentences_per_second", count / stock},
                              {"stock_setting", m.stock_setting},
                              {"ratio_float32", stock / ours},
                              {"limit_seconds", median(m.limit)},
                              {"limit_gflops", 1e-9 * m.operations / median(m.limit)},
                              {"limit_share_float32", median(m.limit) / ours},
                              {"stock_to_limit", stock / median(m.limit)},
                              {"same_hypotheses", static_cast<double>(same) / count}};
  if (!m.bf16.empty()) {
    json["ours_sentences_per_second_bf16"] = count / median(m.bf16);
    json["ratio_bf16"] = stock / median(m.bf16);
    json["limit_share_bf16"] = median(m.limit_bf16) / median(m.bf16);
  }
  return json;
}

void run(const Flags& flags) {
  set_up_machine({.threads = flags.threads, .device = "cpu"});
  if (flags.side.all_blas_threads) set_blas_threads(at::get_num_threads());
  if (!flags.side.side.empty()) return serve_side(flags);
  const nlohmann::ordered_json found = summary(flags, measure(flags));
  if (flags.json) return fmt::print("{}\n", found.dump(2));
  for (const auto& [key, value] : found.items()) fmt::print("{:<28}{}\n", key, value.dump());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Beam search over test sentences, ours beside stock libtorch"};
  Flags flags;
  add_flags(app, flags);
  CLI11_PARSE(app, argc, argv);
  return guarded("decode", [&] { run(flags); });
}
