#include "ballast/values/fold.h"

#include <torch/utils.h>

#include <algorithm>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ballast/parameterization/standard_factor.h"
#include "ballast/values/foldable.h"
#include "ballast/values/folded_stack.h"

namespace ballast {
namespace {

void fold_attention(const Attention& own, Attention& plain, const Affine& rows,
                    const Affine& memory, const Affine& result) {
  const double scores = own.score_scale() / plain.score_scale();
  const Affine compared = scores == 1 ? Affine{} : times(number(scores));
  const auto project = [&](const Linear& from, Point point, const Affine& read,
                           const Affine& behind, Linear& to) {
    Dense(from).reads(read).gives(folded_point(own, plain, point, behind)).store(to);
  };
  project(*own.query, Point::query, rows, compared, *plain.query);
  project(*own.key, Point::key, memory, {}, *plain.key);
  project(*own.value, Point::value, memory, {}, *plain.value);
  Dense(*own.output)
      .reads(folded_point(own, plain, Point::heads))
      .gives(result)
      .store(*plain.output);
}

/// Scale and shift of a normalised activation, as far as the plain one has others.
Affine activated(const Activation& own, const Activation& plain) {
  if (own == plain) return {};
  return times(number(own.scale)).then({{}, number(own.shift)});
}

void fold_feed_forward(const FeedForward& own, FeedForward& plain, const Affine& rows,
                       const Affine& result) {
  Dense(*own.in).reads(rows).gives(folded_point(own, plain, Point::gate)).store(*plain.in);
  Dense(*own.out)
      .reads(activated(own.activation(), plain.activation())
                 .then(folded_point(own, plain, Point::hidden)))
      .gives(result)
      .store(*plain.out);
}

/// What the plain branch reads, to what this one does.
Affine branch_rows(const Residual& own, const Residual& plain, const Scale& before) {
  Affine rows;
  if (keeps_norm(own, Point::read)) {
    Norm& norm = *plain.norm_at(Point::read);
    store_norm(*own.norm_at(Point::read), {}, norm);
    if (norm.alpha.defined()) norm.alpha.div_(before);
  } else {
    rows = times(one_over(before));
  }
  return rows.then(map_at(own, Point::read)).then(times(wide(own.acting_coefficients().input)));
}

void fold_connection(const Connection& own, const Connection& plain, const Scale& before,
                     const Scale& behind, const Affine& memory) {
  const Residual& residual = *own.residual;
  const Affine rows = branch_rows(residual, *plain.residual, before);
  Affine weight = times(wide(residual.acting_coefficients().branch));
  const Affine left = folded_point(residual, *plain.residual, Point::stream, times(behind));
  if (!keeps_norm(residual, Point::stream)) weight = weight.then(left);
  const Affine result = folded_point(residual, *plain.residual, Point::branch, weight);
  if (residual.site().kind == Sublayer::feed_forward) {
    return fold_feed_forward(dynamic_cast<const FeedForward&>(*own.branch),
                             dynamic_cast<FeedForward&>(*plain.branch), rows, result);
  }
  const bool reads_memory = residual.site().kind == Sublayer::cross_attention;
  fold_attention(dynamic_cast<const Attention&>(*own.branch),
                 dynamic_cast<Attention&>(*plain.branch), rows, reads_memory ? memory : rows,
                 result);
}

void copy_relative_positions(const BlockStack& own, const BlockStack& plain) {
  const auto given = own.named_parameters(), taken = plain.named_parameters();
  const std::string name = "positions.table";
  if (given.contains(name)) taken[name].copy_(given[name]);
}

/// `end` is what the last norm takes on.
void fold_stack(const FoldedStack& folded, const BlockStack& plain, const Affine& memory,
                const Scale& end) {
  const auto from = connections_of(folded.stack), to = connections_of(plain);
  folded_point(folded.stack, plain, Point::embedding, times(folded.scales.front()));
  const bool ends_with_norm = keeps_norm(folded.stack, Point::stack);
  for (size_t i = 0; i < from.size(); ++i) {
    const bool is_last = i + 1 == from.size() && !ends_with_norm;
    const Scale behind = is_last && folded.last_norm() ? end : folded.scales[i + 1];
    fold_connection(*from[i], *to[i], folded.scales[i], behind, memory);
  }
  if (ends_with_norm) {
    folded_point(folded.stack, plain, Point::stack, times(end));
  }
  copy_relative_positions(folded.stack, plain);
}

/// What tables and positions take on, and what the result of the decoder has to be multiplied by
/// where the output reads a table.
struct Ends {
  Scale source = number(1), target = number(1), output = number(1);
  bool is_tied = false;
};

bool takes_on(const Norm& norm, const Scale& scale) {
  return norm.gain.defined() && (scale.dim() == 0 || norm.gain.sizes() == scale.sizes());
}

/// What the rows of an embedding are multiplied by; a norm behind it takes the scale itself.
Scale entering(const FoldedStack& folded) {
  return keeps_norm(folded.stack, Point::embedding) ? number(1) : folded.scales.front();
}

Scale table_scale(const Transformer& model, const Embedding& table, const Scale& entering) {
  const ModelOptions& options = model.options();
  const double plain =
      options.embedding_factor().value_or(standard_factor({Point::token, options.d_model}));
  return entering * (table.factor() / plain);
}

/// The last norm before the product with the vocabulary, null where none is.
const Norm* norm_of_output(const Transformer& model, const FoldedStack& target) {
  const auto& transform = model.output->transform;
  return transform ? transform->norm.get() : target.last_norm();
}

Ends ends_of(const Transformer& model, const FoldedStack* source, const FoldedStack& target) {
  Ends ends;
  if (source) ends.source = table_scale(model, *model.source_embedding, entering(*source));
  ends.target = table_scale(model, *model.target_embedding, entering(target));
  if (!model.output->is_tied()) return ends;
  const Scale wanted = model.output->acting_multiplier() * one_over(ends.target);
  if (const Norm* last = norm_of_output(model, target)) {
    ends.is_tied = is_one(wanted) || takes_on(*last, wanted);
    if (ends.is_tied) ends.output = wanted;
  } else {
    const Affine& leaving = target.leaving;
    ends.is_tied = is_one(wanted) && !leaving.scale.defined() && !leaving.shift.defined();
  }
  return ends;
}

EmbeddingSharing sharing_of(const Transformer& model, const Ends& ends) {
  const EmbeddingSharing before = model.options().share_embeddings;
  if (!ends.is_tied) return EmbeddingSharing::none;
  const bool is_one_table = before != EmbeddingSharing::all ||
                            !model.options().shape().has_source ||
                            (ends.source == ends.target).all().item<bool>();
  return is_one_table ? before : EmbeddingSharing::target_output;
}

void fold_positions(const Positions& own, const Scale& entering, Positions& plain) {
  if (plain.table.defined()) plain.table.copy_(wide(own.table) * own.multiplier * entering);
  if (!plain.scale.defined()) return;
  const torch::Tensor scale = own.scale.defined() ? wide(own.scale) : number(1);
  plain.scale.copy_((scale * entering).expand_as(plain.scale));
}

/// What leaves the stack, and what the norm takes on for the table.
void fold_transform(const OutputTransform& own, const Affine& leaving, const Scale& end,
                    OutputTransform& plain) {
  Dense(*own.dense).reads(leaving).store(*plain.dense);
  store_norm(*own.norm, times(end), *plain.norm);
}

void fold_output(const Transformer& model, const Affine& leaving, const Transformer& plain) {
  const OutputProjection& own = *model.output;
  if (own.bias.defined()) plain.output->bias.copy_(own.bias);
  if (plain.output->is_tied()) return;
  torch::Tensor weight = wide(own.weight()) * own.acting_multiplier();
  if (leaving.shift.defined()) {
    plain.output->bias.add_(weight.mv(leaving.shift.expand({weight.size(1)})));
  }
  if (leaving.scale.defined()) weight = weight * leaving.scale;
  plain.output->weight().copy_(weight);
}

/// Computed positions get a factor where something has to be multiplied into them.
void name_positions(std::span<const FoldedStack* const> stacks, ModelOptions& plain) {
  const bool plain_ones =
      std::ranges::all_of(stacks, [](const FoldedStack* each) { return is_one(entering(*each)); });
  if (plain_ones) return;
  std::visit(
      [](auto& kind) {
        if constexpr (requires { kind.scaled; }) kind.scaled = true;
      },
      plain.positions);
}

}  // namespace

std::shared_ptr<Transformer> fold(const Transformer& model) {
  const torch::NoGradGuard no_grad;
  ModelOptions options = plain_options(model.options());
  std::optional<FoldedStack> source;
  if (model.options().shape().has_source) source.emplace(*model.encoder);
  const FoldedStack target(model.target_stack());
  const Ends ends = ends_of(model, source ? &*source : nullptr, target);
  options.share_embeddings = sharing_of(model, ends);
  std::vector<const FoldedStack*> stacks{&target};
  if (source) stacks.push_back(&*source);
  name_positions(stacks, options);
  name_norms(stacks, model.options(), options);
  const bool is_transformed = model.output->transform != nullptr;
  const bool needs_bias = !is_transformed && !ends.is_tied && target.leaving.shift.defined();
  options.output_bias = options.output_bias || needs_bias;
  if (is_transformed && target.leaving.shift.defined()) options.linear_bias = true;

  const int64_t targets = model.target_embedding->weight.size(0);
  const int64_t sources = source ? model.source_embedding->weight.size(0) : 0;
  auto plain = std::make_shared<Transformer>(options, VocabularySizes{sources, targets});
  plain->to(model.target_embedding->weight.scalar_type());
  if (source) {
    fold_stack(*source, *plain->encoder, {}, number(1));
    plain->source_embedding->weight.copy_(wide(model.source_embedding->weight) * ends.source);
    fold_positions(*model.source_positions, entering(*source), *plain->source_positions);
  }
  fold_stack(target, plain->target_stack(), source ? source->leaving : Affine{},
             is_transformed ? number(1) : ends.output);
  plain->target_embedding->weight.copy_(wide(model.target_embedding->weight) * ends.target);
  fold_positions(*model.target_positions, entering(target), *plain->target_positions);
  if (is_transformed) {
    fold_transform(*model.output->transform, target.leaving, ends.output,
                   *plain->output->transform);
  }
  fold_output(model, is_transformed ? Affine{} : target.leaving, *plain);
  plain->to(model.device());
  plain->context() = model.context();
  plain->train(model.is_training());
  return plain;
}

}  // namespace ballast
