#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ballast/base/context.h"
#include "ballast/base/parameter.h"
#include "ballast/kernels/attention.h"
#include "ballast/norm/norm.h"

namespace ballast {

/// A norm that stands at a point, whatever the scheme says: those of queries and keys.
struct PointNorm {
  Point point = Point::query;
  NormForm form;
};

/// What stands at points. The default is nothing.
struct Standing {
  Points norms = {};
  std::vector<PointFactor> factors = {};
  Points shifts = {};                     ///< trained scalars that start at 0
  NormForm norm = {};                     ///< at the points of `norms`
  std::vector<PointNorm> own_norms = {};  ///< in place of `norm` at theirs
};

/// What a point does to x at this moment: factor * norm(x) + shift, each undefined where it stands
/// not there; factor [] or [width].
struct ActingPoint {
  std::shared_ptr<Norm> norm;
  torch::Tensor factor, shift;
};

/// A module with points: owns the norm, factors and shift that stand at each, and shows what leaves
/// it to observers.
class Pointed : public torch::nn::Module, public Bound, public Described {
 public:
  /// The norm at a point, null where there is none.
  std::shared_ptr<Norm> norm_at(Point point) const;

  /// All that stands at a point, ramps at the step of the context.
  ActingPoint acting_at(Point point) const;

  std::vector<ParameterSlot> describe() override;

 protected:
  /// Registers what of `standing` stands at `point`, under names made from the point's, such as
  /// `hidden_norm`. RecipeError for a factor that is profiled or a grid, and for two trained ones.
  void stand(const Standing& standing, Point point, const RowShape& shape);

  /// What leaves the point: factor * norm(x) + shift, as far as they stand there, then what
  /// observers make of it. x [N, width], rows of the `sequences`, which are needed where a norm
  /// reads more than one row.
  torch::Tensor at(Point point, const torch::Tensor& x, const Segments* sequences = nullptr) const;
  /// The same of columns; they are left where they lie when nothing stands there.
  Columns at(Point point, const Columns& x, const Segments* sequences = nullptr) const;

  /// Whether x passes the point as it is, unseen.
  bool is_bare(Point point) const { return !occupied_.has(point) && !is_watched(); }

  /// For a kernel that applies the norm itself: that at the point, absent where there is none.
  /// Only where `has_row_norm_at_most`.
  std::optional<NormParameters> row_norm(Point point) const;
  bool has_row_norm_at_most(Point point) const;

 private:
  struct Spot {
    Point point = Point::stream;
    RowShape shape;
    std::shared_ptr<Norm> norm;
    std::string factor_name, shift_name;
    std::vector<PointFactor> factors;  // at most one is trained
    torch::Tensor factor, shift;
  };

  const Spot* spot(Point point) const;
  torch::Tensor times_factors(const Spot& spot, const torch::Tensor& x) const;

  Points occupied_;
  std::vector<Spot> spots_;
};

/// The values that a coefficient's parameter or buffer starts with: [], [heads] or [width] by its
/// extent, [n] or [m, n] for a grid between lanes.
torch::Tensor start_of(const Coefficient& coefficient, const RowShape& shape);

/// What a coefficient's ramp comes to at a step; 1 where it has none.
double ramp_at(const Coefficient& coefficient, int64_t step);

}  // namespace ballast
