#pragma once

#include <string>

#include "ballast/metrics/tokenization.h"

namespace ballast {

/// Words of Japanese as MeCab cuts them with the IPA dictionary; `folder` empty: Debian's
/// mecab-ipadic-utf8, whose one word more than sacreBLEU's is left out. Raises StoreError for a
/// dictionary that is missing or is another one, and where libmecab is missing.
LineTokenizer japanese_morphemes(const std::string& folder);

/// Words of Korean as MeCab-ko cuts them with mecab-ko-dic: MeCab's search, where a word that does
/// not like white space before it costs more after some. Errors as above.
LineTokenizer korean_morphemes(const std::string& folder);

}  // namespace ballast
