#include "ballast/decode/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ballast/base/error.h"
#include "ballast/decode/batches.h"
#include "ballast/kernels/linear.h"
#include "ballast/loops/tasks.h"

namespace ballast {
namespace {

using Prompts = std::vector<std::vector<int64_t>>;

/// What one generation asks for, the same for all of its batches.
struct Request {
  const Transformer& model;
  const Prompts& prompts;
  const GenerateOptions& options;
  const TextVocabulary& vocabulary;
  const TokenListener& each_token;
  const OutputListener& each_output;
};

/// An output that grows.
struct Live {
  OutputPlace place;
  size_t output = 0;            ///< its number among all
  std::vector<int64_t> tokens;  ///< of prompt and output
};

torch::Tensor ids_tensor(std::span<const int64_t> ids, torch::Device device) {
  return torch::tensor(std::vector<int64_t>(ids.begin(), ids.end()), torch::kInt64).to(device);
}

/// Outputs that are extended together.
class GrowingOutputs {
 public:
  GrowingOutputs(const Request& request, std::vector<Generated>& results, size_t first, size_t last)
      : request_(request), results_(results), state_(request.model.start()) {
    const auto samples = static_cast<size_t>(request.options.samples);
    std::vector<torch::Tensor> hidden;
    std::vector<int64_t> rows;
    for (size_t output = first; output < last; ++output) {
      const size_t prompt = output / samples;
      if (output == first || output % samples == 0) hidden.push_back(read(prompt));
      rows.push_back(static_cast<int64_t>(hidden.size()) - 1);
      const OutputPlace place{static_cast<int64_t>(prompt), static_cast<int64_t>(output % samples)};
      live_.push_back({place, output, request.prompts[prompt]});
    }
    const torch::Tensor kept = ids_tensor(rows, request.model.device());
    state_.select(kept, {});
    hidden_ = torch::cat(hidden).index_select(0, kept);
  }

  void run() {
    while (!live_.empty()) {
      if (extend()) hidden_ = request_.model.step(next_ids(), state_);
    }
  }

 private:
  /// The last row that a prompt gives.
  torch::Tensor read(size_t prompt) {
    const std::vector<int64_t>& ids = request_.prompts[prompt];
    const std::vector<int64_t> lengths{static_cast<int64_t>(ids.size())};
    const torch::Tensor rows = request_.model.read(
        {ids_tensor(ids, request_.model.device()), Segments::packed(lengths)}, state_);
    return rows.slice(0, lengths.front() - 1, lengths.front());
  }

  torch::Tensor next_ids() const {
    std::vector<int64_t> ids;
    for (const Live& live : live_) ids.push_back(live.tokens.back());
    return ids_tensor(ids, request_.model.device());
  }

  std::vector<std::optional<int64_t>> chosen() const {
    const torch::Tensor logits =
        request_.model.logits(hidden_).to(torch::kFloat32).cpu().contiguous();
    const auto columns = static_cast<size_t>(logits.size(1));
    std::vector<std::optional<int64_t>> tokens(live_.size());
    for_each_task(static_cast<int64_t>(live_.size()), [&](int64_t row) {
      const Live& live = live_[row];
      const DrawPlace place{live.place.prompt, live.place.sample, made(live)};
      tokens[row] = next_token({logits.data_ptr<float>() + row * columns, columns}, live.tokens,
                               place, request_.vocabulary, request_.options);
    });
    return tokens;
  }

  int64_t made(const Live& live) const {
    const std::vector<int64_t>& prompt = request_.prompts[static_cast<size_t>(live.place.prompt)];
    return static_cast<int64_t>(live.tokens.size() - prompt.size());
  }

  /// Why an output ends with its newest token, if it does.
  std::optional<Ending> ending_of(const Live& live) const {
    const bool goes_on =
        !request_.each_token || request_.each_token(live.place, live.tokens.back());
    if (!goes_on) return Ending::stopped;
    if (made(live) >= request_.options.max_new_tokens) return Ending::length;
    const auto fed = static_cast<int64_t>(live.tokens.size());
    if (fed > request_.model.longest_sequence()) return Ending::positions;
    return std::nullopt;
  }

  /// One token more for every output; false when none goes on.
  bool extend() {
    const auto tokens = chosen();
    std::vector<Live> going;
    std::vector<int64_t> rows;
    for (size_t row = 0; row < live_.size(); ++row) {
      if (!tokens[row]) {
        throw DataError(
            fmt::format("the logits behind prompt {} are no numbers; the model has "
                        "diverged",
                        live_[row].place.prompt + 1));
      }
      std::optional<Ending> ending = Ending::end;
      if (*tokens[row] != request_.vocabulary.end || request_.options.ignore_end) {
        live_[row].tokens.push_back(*tokens[row]);
        ending = ending_of(live_[row]);
      }
      if (ending) {
        finish(live_[row], *ending);
      } else {
        rows.push_back(static_cast<int64_t>(row));
        going.push_back(std::move(live_[row]));
      }
    }
    const bool fewer = going.size() < live_.size();
    live_ = std::move(going);
    if (fewer && !live_.empty()) state_.select(ids_tensor(rows, request_.model.device()), {});
    return !live_.empty();
  }

  void finish(const Live& live, Ending ending) {
    Generated& result = results_[live.output];
    result.tokens.assign(live.tokens.end() - made(live), live.tokens.end());
    result.ending = ending;
    if (request_.each_output) request_.each_output(live.place, result);
  }

  const Request& request_;
  std::vector<Generated>& results_;
  DecodeState state_;
  std::vector<Live> live_;
  torch::Tensor hidden_;  // of each live output, what its newest token gave
};

void check(const Prompts& prompts, const Transformer& model) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (std::cmp_less_equal(prompts[i].size(), model.longest_sequence())) continue;
    throw DataError(
        fmt::format("prompt {} has {} tokens with its start piece, and the model "
                    "positions for {}; shorten it",
                    i + 1, prompts[i].size(), model.longest_sequence()));
  }
}

}  // namespace

std::vector<Generated> generate(Transformer& model, const Prompts& prompts,
                                const GenerateOptions& options, const TextVocabulary& vocabulary,
                                const TokenListener& each_token,
                                const OutputListener& each_output) {
  check(prompts, model);
  Transformer* const models[] = {&model};
  const ModelsAtWork work(models, options.precision);
  const Request request{model, prompts, options, vocabulary, each_token, each_output};
  std::vector<Generated> results(prompts.size() * static_cast<size_t>(options.samples));
  const auto batch = static_cast<size_t>(std::min(options.batch, few_rows));
  for (size_t first = 0; first < results.size(); first += batch) {
    GrowingOutputs(request, results, first, std::min(first + batch, results.size())).run();
  }
  return results;
}

}  // namespace ballast
