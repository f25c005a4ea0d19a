#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ballast/base/choice.h"

namespace ballast {

/// How BLEU cuts a line into words. Those with a path need a file or folder that Ballast does not
/// bring.
enum class BleuTokenization {
  thirteen_a,     ///< mteval-v13a of WMT: punctuation of ASCII, a few HTML entities
  international,  ///< mteval-v14: Unicode's punctuation and symbols
  chinese,        ///< each Chinese character is a word, the rest as in mteval-v13a
  character,      ///< every character that is not white space is a word
  none,           ///< words are separated by white space
  japanese,       ///< MeCab; path: a folder with the IPA dictionary, else Debian's
  korean,         ///< MeCab; path: a folder with mecab-ko-dic, else the places where it installs
  flores101,      ///< SentencePiece; path: the model of spBLEU, Flores-101
  flores200,      ///< SentencePiece; path: the model of Flores-200
  spbleu_1k,      ///< SentencePiece; path: the model of spBLEU-1K
  sentencepiece,  ///< SentencePiece; path: any model
};

template <>
struct EnumNames<BleuTokenization> {
  static constexpr std::array<std::pair<std::string_view, BleuTokenization>, 11> value{
      {{"13a", BleuTokenization::thirteen_a},
       {"intl", BleuTokenization::international},
       {"zh", BleuTokenization::chinese},
       {"char", BleuTokenization::character},
       {"none", BleuTokenization::none},
       {"ja-mecab", BleuTokenization::japanese},
       {"ko-mecab", BleuTokenization::korean},
       {"flores101", BleuTokenization::flores101},
       {"flores200", BleuTokenization::flores200},
       {"spBLEU-1K", BleuTokenization::spbleu_1k},
       {"spm", BleuTokenization::sentencepiece}}};
};

struct LineTokenizer {
  /// What the signature says after `tok:`. It is sacreBLEU's; a model of one's own, which sacreBLEU
  /// cannot have, is `spm-` and the CRC-32 of its file.
  std::string signature;

  /// The line with white space wherever a word ends: split it to get the words.
  std::function<std::u32string(std::u32string_view line)> spaced;
};

/// The tokenizer of sacreBLEU with this name, with its model or dictionary loaded from `path`.
/// Raises RecipeError for a path that is missing or not asked for, DataError and StoreError for
/// what cannot be loaded or is not what sacreBLEU uses.
LineTokenizer make_tokenizer(BleuTokenization tokenization, const std::string& path = {});

}  // namespace ballast
