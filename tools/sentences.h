#pragma once

#include <unicode/unistr.h>

#include <utility>
#include <vector>

namespace ballast {

using SentencePair = std::pair<icu::UnicodeString, icu::UnicodeString>;

/// Cuts clean text after `.`, `!` or `?` (and closing quotes or brackets) where a capital or digit
/// follows; never after a single capital or a common abbreviation.
std::vector<icu::UnicodeString> sentences(const icu::UnicodeString& text);

/// The sentences of two paragraphs side by side where both have as many, else the paragraphs.
std::vector<SentencePair> aligned(const icu::UnicodeString& source,
                                  const icu::UnicodeString& target);

/// Words and punctuation marks; letters, digits and `_` make words.
int token_count(const icu::UnicodeString& text);

/// What makes two sentences the same: lower case, punctuation dropped, every number 0.
icu::UnicodeString sentence_key(const icu::UnicodeString& text);

/// A pair is worth learning when the source has 2 to 150 tokens and the target 1 to 150, neither
/// (of 10 or more) is over three times as long as the other, the source is mostly Latin letters
/// with at least one word of two, and the sides differ in more than case and punctuation.
bool worth_keeping(const SentencePair& pair);

}  // namespace ballast
