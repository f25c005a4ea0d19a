#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/data/tokenizer_options.h"

namespace ballast {

/// The longest word, in bytes, from which a vocabulary is learned. SentencePiece 0.1.97 ends its
/// process at a word of 65,536 characters, and its normalisation makes up to 6 of a byte (U+FDFA).
inline constexpr std::size_t longest_word = 10'000;

/// Whether there are more than `longest_word` bytes without a space between.
bool has_overlong_word(std::string_view text);

/// What the learner is given of a line: the line, or where that is longer than `longest_word`
/// bytes, parts of at most that length, cut at spaces and only without any at a character; of equal
/// parts one. (On a long text that repeats itself the unigram trainer takes a time with the square
/// of its length.)
std::vector<std::string_view> learning_parts(std::string_view line);

/// See `Tokenizer::train`: the bytes of the SentencePiece model.
std::string learned_model(std::span<const std::string> sentences, const LearnedChoice& options,
                          const std::stop_token& stop);

/// Loads a SentencePiece model and uses all of its parts, in a process that may die of it. Raises
/// DataError, which begins with `name`, when it does or the model is none.
void check_model(std::string_view serialized, const std::string& name, const std::stop_token& stop);

}  // namespace ballast
