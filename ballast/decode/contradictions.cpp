#include "ballast/decode/contradictions.h"

#include <fmt/format.h>

#include <algorithm>

namespace ballast {
namespace {

void check_lengths(const DecodeOptions& options, std::vector<Contradiction>& found) {
  if (options.allow_empty && (options.min_length > 0 || options.min_ratio > 0)) {
    found.push_back(
        {"decode.allow_empty",
         "decode.allow_empty = true, but decode.min_length or decode.min_ratio asks for "
         "a least length; leave one of them out"});
  }
  if (options.min_ratio > options.max_ratio) {
    found.push_back(
        {"decode.min_ratio", fmt::format("decode.min_ratio = {} exceeds decode.max_ratio = {}",
                                         options.min_ratio, options.max_ratio)});
  }
  if (options.max_ratio == 0 && options.min_length >= options.max_extra) {
    found.push_back({"decode.min_length",
                     fmt::format("decode.min_length = {} needs a decode.max_extra above it where "
                                 "decode.max_ratio = 0, found {}; the end piece counts there",
                                 options.min_length, options.max_extra)});
  }
}

}  // namespace

std::vector<Contradiction> contradictions(const DecodeOptions& options) {
  std::vector<Contradiction> found;
  check_lengths(options, found);
  if (std::holds_alternative<RandomSampling>(options.search) && options.beam > 1) {
    found.push_back(
        {"decode.beam",
         fmt::format("decode.beam = {} has no meaning for decode.search = \"sampling\"; "
                     "set decode.beam = 1, and decode.search.samples for several outputs",
                     options.beam)});
  }
  return found;
}

std::vector<Contradiction> contradictions(const GenerateOptions& options) {
  std::vector<Contradiction> found;
  if (std::find(options.stop.begin(), options.stop.end(), "") != options.stop.end()) {
    found.push_back({"generate.stop",
                     "generate.stop has an empty text, which would end every output at once; leave "
                     "it out"});
  }
  if (options.temperature == 0 && options.samples > 1) {
    found.push_back(
        {"generate.samples",
         fmt::format("generate.samples = {} with generate.temperature = 0 gives the same output so "
                     "often; raise the temperature",
                     options.samples)});
  }
  return found;
}

}  // namespace ballast
