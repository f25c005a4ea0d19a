#include "ballast/data/byte_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "ballast/base/error.h"
#include "ballast/data/byte_alphabet.h"
#include "ballast/data/text_splitter.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

/// What is read, and its name in messages.
struct Source {
  std::string name;

  [[noreturn]] void refuse(const std::string& problem) const {
    throw DataError(fmt::format("{}: {}", name, problem));
  }

  std::string bytes(const std::string& piece) const {
    if (const auto found = from_byte_alphabet(piece)) return *found;
    refuse(fmt::format(
        "piece \"{}\" is not spelled in the byte alphabet; expected byte-level pieces, such as "
        "those of GPT-2; for SentencePiece's take its .model file, with kind = \"sentencepiece\"",
        piece));
  }
};

Json parsed(std::string_view text, const Source& source) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    source.refuse(json.is_discarded() ? "is no JSON" : "is JSON, but no object");
  }
  return json;
}

/// A text of an object; the other where there is none, or null.
std::string text_of(const Json& object, const char* key, const std::string& other = {}) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : other;
}

bool flag_of(const Json& object, const char* key, bool other = false) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : other;
}

using Rule = std::function<void(const Json&, BytePairs&, const Source&)>;
using Rules = std::map<std::string, Rule>;

void follow(const Rules& rules, const Json& given, const char* what, BytePairs& made,
            const Source& source) {
  if (given.is_null()) return;
  const std::string type = given.is_object() ? text_of(given, "type") : std::string();
  if (const auto rule = rules.find(type); rule != rules.end()) {
    return rule->second(given, made, source);
  }
  std::string known;
  for (const auto& [name, rule] : rules) known += (known.empty() ? "" : ", ") + name;
  source.refuse(fmt::format("has the {} \"{}\"; known are {}", what, type, known));
}

void add_pattern(const Json& given, BytePairs& made, const Source& source) {
  const Json pattern = given.value("pattern", Json::object());
  const std::string regex = pattern.is_object() ? text_of(pattern, "Regex") : std::string();
  const std::string behavior = text_of(given, "behavior");
  const bool inverted = flag_of(given, "invert");
  // Matches apart, or what lies between them taken away: what every known vocabulary's expression
  // matches is all of the text.
  const bool known = (behavior == "Isolated" && !inverted) || (behavior == "Removed" && inverted);
  if (regex.empty() || !known) {
    source.refuse(fmt::format(
        "has a pre-tokenizer \"Split\" with behavior \"{}\"; expected a regular expression "
        "(\"Regex\") whose matches are \"Isolated\"",
        behavior));
  }
  made.patterns.push_back(regex);
}

void add_digits(const Json& given, BytePairs& made, const Source&) {
  made.patterns.emplace_back(flag_of(given, "individual_digits") ? "\\p{N}" : "\\p{N}+");
}

void add_byte_level(const Json& given, BytePairs& made, const Source&) {
  made.adds_space = made.adds_space || flag_of(given, "add_prefix_space");
  if (flag_of(given, "use_regex", true)) made.patterns.emplace_back(gpt2_words);
}

void add_splitting(const Json& given, BytePairs& made, const Source& source) {
  const Rules rules{
      {"ByteLevel", add_byte_level},
      {"Digits", add_digits},
      {"Split", add_pattern},
      {"Sequence",
       [](const Json& several, BytePairs& all, const Source& from) {
         for (const Json& each : several.value("pretokenizers", Json::array())) {
           add_splitting(each, all, from);
         }
       }},
  };
  follow(rules, given, "pre-tokenizer", made, source);
}

void add_normal_form(const Json& given, BytePairs& made, const Source& source) {
  const Rule form = [](const Json& named, BytePairs& all, const Source&) {
    all.normal_form = text_of(named, "type");
  };
  follow({{"NFC", form}, {"NFD", form}, {"NFKC", form}, {"NFKD", form}}, given, "normalizer", made,
         source);
}

void add_pieces(const Json& vocabulary, BytePairs& made, const Source& source) {
  if (!vocabulary.is_object() || vocabulary.empty()) {
    source.refuse("has no pieces; expected an object of pieces and their numbers");
  }
  constexpr int64_t most = int64_t{1} << 31;
  for (const auto& [piece, id] : vocabulary.items()) {
    const bool is_added = std::ranges::any_of(
        made.added, [&](const BytePairs::Added& each) { return each.text == piece; });
    if (is_added) continue;
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= most) {
      source.refuse(
          fmt::format("piece \"{}\" has the number {}; expected 0 to 2^31 - 1", piece, id.dump()));
    }
    made.ids.emplace(source.bytes(piece), id.get<int64_t>());
  }
}

void add_merge(const Json& given, BytePairs& made, const Source& source) {
  std::optional<std::pair<std::string, std::string>> pair;
  if (given.is_array() && given.size() == 2 && given[0].is_string() && given[1].is_string()) {
    pair = {given[0].get<std::string>(), given[1].get<std::string>()};
  } else if (given.is_string()) {
    const auto text = given.get<std::string>();
    const auto space = text.find(' ');
    if (space != text.npos) pair = {text.substr(0, space), text.substr(space + 1)};
  }
  if (!pair || pair->first.empty() || pair->second.empty()) {
    source.refuse(
        fmt::format("merge {} is {}; expected two pieces", made.merges.size() + 1, given.dump()));
  }
  made.merges.emplace_back(source.bytes(pair->first), source.bytes(pair->second));
}

void add_whole_texts(const Json& added, BytePairs& made, const Source& source) {
  for (const Json& each : added) {
    if (!each.is_object() || !each.contains("id") || !each["id"].is_number_unsigned() ||
        text_of(each, "content").empty()) {
      source.refuse(
          fmt::format("has the added token {}; expected its id and content", each.dump()));
    }
    made.added.push_back(
        {each["id"].get<int64_t>(), text_of(each, "content"), flag_of(each, "special")});
  }
}

/// The lines that hold a merge; the first says the version.
Json merges_in(std::string_view lines) {
  Json merges = Json::array();
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    std::string_view line = lines.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool is_version = at == 0 && line.starts_with("#version");
    if (!line.empty() && !is_version) merges.push_back(std::string(line));
    at = end + 1;
  }
  return merges;
}

std::string written(Json vocabulary, Json merges, Json added, Json splitting) {
  Json json{{"version", "1.0"},          {"truncation", nullptr},
            {"padding", nullptr},        {"added_tokens", std::move(added)},
            {"normalizer", nullptr},     {"pre_tokenizer", std::move(splitting)},
            {"post_processor", nullptr}, {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}}}};
  json["model"]["vocab"] = std::move(vocabulary);
  json["model"]["merges"] = std::move(merges);
  return json.dump();
}

constexpr const char* end_of_text = "<|endoftext|>";

/// GPT-2's rule, which a vocabulary without merges has no use for.
Json byte_level(bool cuts_words) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", cuts_words}};
}

Json special_token(const std::string& text, const Json& id) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

}  // namespace

BytePairs parse_tokenizer_json(std::string_view text, const std::string& name) {
  const Source source{name};
  const Json json = parsed(text, source);
  const Json model = json.value("model", Json::object());
  const std::string type = model.is_object() ? text_of(model, "type", "BPE") : std::string();
  if (!model.is_object() || !model.contains("vocab") || type != "BPE") {
    source.refuse(
        fmt::format("has {}; expected a tokenizer.json whose model is byte-level BPE, or GPT-2's "
                    "vocab.json with merges.txt beside it",
                    type.empty() || type == "BPE" ? "no model with pieces"
                                                  : fmt::format("a model of type {}", type)));
  }
  BytePairs made;
  add_whole_texts(json.value("added_tokens", Json::array()), made, source);
  add_normal_form(json.value("normalizer", Json()), made, source);
  add_splitting(json.value("pre_tokenizer", Json()), made, source);
  add_pieces(model["vocab"], made, source);
  for (const Json& each : model.value("merges", Json::array())) add_merge(each, made, source);
  made.unknown = text_of(model, "unk_token");
  made.whole_words = flag_of(model, "ignore_merges");
  return made;
}

bool is_list_of_pieces(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && !json.empty() &&
         std::ranges::all_of(json, [](const Json& each) { return each.is_number(); });
}

std::string tokenizer_json_of(std::string_view vocabulary, const std::string& vocabulary_name,
                              std::string_view merges, const std::string& merges_name) {
  Json pieces = parsed(vocabulary, {vocabulary_name});
  BytePairs tried;
  for (const char* special : {end_of_text, "<s>", "</s>", "<pad>", "<unk>", "<mask>"}) {
    if (pieces.contains(special)) tried.added.push_back({0, special, true});
  }
  add_pieces(pieces, tried, {vocabulary_name});
  Json added = Json::array();
  for (const auto& each : tried.added) added.push_back(special_token(each.text, pieces[each.text]));
  Json pairs = merges_in(merges);
  for (const Json& each : pairs) add_merge(each, tried, {merges_name});
  return written(std::move(pieces), std::move(pairs), std::move(added), byte_level(true));
}

std::string tokenizer_json_of_bytes() {
  Json pieces = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    pieces[in_byte_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  }
  return written(std::move(pieces), Json::array(), Json::array({special_token(end_of_text, 256)}),
                 byte_level(false));
}

}  // namespace ballast
