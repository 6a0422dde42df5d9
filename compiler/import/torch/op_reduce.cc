// Reductions and sums along an axis.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

namespace {

// A reduction over `axes`; over none of a tensor of rank 0.
Term Over(const Term& x, std::string_view op, const std::vector<int64_t>& axes, bool keep) {
  return axes.empty() ? x : x.Over(op, axes, keep);
}
// The axes that argument `dim` names: all, where there is none.
std::vector<int64_t> AxesOf(const Call& n, int rank) { return n.Axes("dim", rank); }
bool Keeps(const Call& n) { return n.Bool("keepdim"); }

// Integers and bools are summed as int64.
template <OpName kName>
Results Sum(Call& n) {
  Term x(n, 0);
  const DType own = IsFloat(x.dtype()) ? x.dtype() : DType::kInt64;
  const DType t = n.Dtype().value_or(own);
  return {Over(x.As(SumType(t)), kName.chars, AxesOf(n, x.rank()), Keeps(n)).As(t)};
}
Term NumbersOnly(const Term& x, double instead) {
  return IsFloat(x.dtype()) ? Select(x.Call("isnan"), x.Number(instead), x) : x;
}
Results NanSum(Call& n) {
  const Term x = NumbersOnly(Term(n, 0), 0);
  const DType own = IsFloat(x.dtype()) ? x.dtype() : DType::kInt64;
  const DType t = n.Dtype().value_or(own);
  return {Over(x.As(SumType(t)), "sum", AxesOf(n, x.rank()), Keeps(n)).As(t)};
}
Results Mean(Call& n) {
  const Term x(n, 0);
  const DType t = n.Dtype().value_or(x.dtype());
  if (!IsFloat(t)) return n.Fail("the mean of integers has no dtype; expected dtype=");
  return {Over(x.As(SumType(t)), "mean", AxesOf(n, x.rank()), Keeps(n)).As(t)};
}
Results NanMean(Call& n) {
  const Term x(n, 0);
  const DType t = n.Dtype().value_or(x.dtype());
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  const Term wide = x.As(SumType(t));
  const Term count = Over(Not(wide.Call("isnan")).As(wide.dtype()), "sum", axes, Keeps(n));
  return {(Over(NumbersOnly(wide, 0), "sum", axes, Keeps(n)) / count).As(t)};
}
Results CountNonZero(Call& n) {
  const Term x = Truth(Term(n, 0));
  return {Over(x.As(DType::kInt64), "sum", AxesOf(n, x.rank()), Keeps(n))};
}

template <OpName kName>
Results Truths(Call& n) {
  const Term given(n, 0), x = Truth(given);
  const Term y = Over(x, kName.chars, AxesOf(n, x.rank()), Keeps(n));
  return {given.dtype() == DType::kUInt8 ? y.As(DType::kUInt8) : y};
}

// NaN of any element is the result.
Term Extremum(const Term& x, std::string_view op, const std::vector<int64_t>& axes, bool keep) {
  if (axes.empty()) return x;
  if (x.dtype() == DType::kBool) return Over(x, op == "max" ? "any" : "all", axes, keep);
  const Term y = x.Over(op, axes, keep);
  if (!IsFloat(x.dtype())) return y;
  const Term bad = x.Call("isnan").Over("any", axes, keep);
  return Select(bad, y.Number(NAN), y);
}

template <OpName kName>
Results Extremes(Call& n) {
  const Term x(n, 0);
  return {Extremum(x, kName.chars, AxesOf(n, x.rank()), Keeps(n))};
}
Results MinAndMax(Call& n) {
  const Term x(n, 0);
  const auto axes = AxesOf(n, x.rank());
  return {Extremum(x, "min", axes, Keeps(n)), Extremum(x, "max", axes, Keeps(n))};
}

// Where the greatest stands: NaN counts as such.
Term PlaceOf(const Term& x, std::string_view op, int64_t axis, bool keep) {
  Term ranked = x;
  if (x.dtype() == DType::kBool) ranked = x.As(DType::kInt8);
  if (IsFloat(x.dtype())) {
    const double most = op == "argmax" ? HUGE_VAL : -HUGE_VAL;
    // NaN before infinity: the first of the former, if there is one.
    const Term bad = x.Call("isnan");
    const Term any = bad.Over("any", {axis}, true);
    const Term rank_bad = Select(bad, x.Number(most), x.Number(-most));
    ranked = Select(any, rank_bad, x);
  }
  return ranked.Call(op, {{"axis", AttrList{axis}}, {"keepdims", keep}}).As(DType::kInt64);
}

template <OpName kName, OpName kPlace>
Results ExtremeAlong(Call& n) {
  const Term x(n, 0);
  const int64_t axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok()) return {};
  if (x.rank() == 0) return {x, n.b().Int(0)};
  return {Extremum(x, kName.chars, {axis}, Keeps(n)), PlaceOf(x, kPlace.chars, axis, Keeps(n))};
}
template <OpName kPlace>
Results Place(Call& n) {
  const Term x(n, 0);
  if (!n.Has("dim")) {
    const Term place = PlaceOf(x.Reshape({-1}), kPlace.chars, 0, false);
    if (!Keeps(n)) return {place};
    return {place.Reshape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1))};
  }
  const int64_t axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok()) return {};
  if (x.rank() == 0) return {n.b().Int(0)};
  return {PlaceOf(x, kPlace.chars, axis, Keeps(n))};
}

// --- Variance ---

struct Spread {
  Term variance, mean;
};
// Deviations are squared, so that what is large does not lose them.
std::optional<Spread> SpreadOf(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (!IsFloat(given.dtype())) {
    n.Fail("expected floats");
    return std::nullopt;
  }
  const Term x = given.As(SumType(given.dtype()));
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  double correction = n.Has("unbiased") ? (n.Bool("unbiased", true) ? 1 : 0) : 1;
  if (n.Has("correction")) correction = n.Float("correction", 1);
  const Term mean = Over(x, "mean", axes, true);
  const Term gap = x - mean;
  const Term sum = Over(gap * gap, "sum", axes, Keeps(n));
  Term count(b, b.Int(1));
  for (const int64_t axis : axes) count = count * Extent(b, x, static_cast<int>(axis));
  const Term less = count.As(DType::kFloat64) - correction;
  const Term by = Maximum(less, less.Number(0)).As(x.dtype());
  const Term average = Keeps(n) ? mean : Over(x, "mean", axes, false);
  return Spread{(sum / by).As(given.dtype()), average.As(given.dtype())};
}
template <bool kRoot, bool kMean>
Results Variance(Call& n) {
  const auto spread = SpreadOf(n);
  if (!spread) return {};
  const Term y = kRoot ? Sqrt(spread->variance) : spread->variance;
  return kMean ? Results{y, spread->mean} : Results{y};
}

// --- Norms ---

Term PowerNorm(const Term& given, double p, const std::vector<int64_t>& axes, bool keep) {
  const Term x = Abs(given.As(SumType(given.dtype())));
  if (axes.empty()) return (p == 0 ? Truth(x).As(x.dtype()) : x).As(given.dtype());
  Term y = x;
  if (std::isinf(p)) {
    y = Extremum(x, p > 0 ? "max" : "min", axes, keep);
  } else if (p == 0) {
    y = Truth(x).As(x.dtype()).Over("sum", axes, keep);
  } else if (p == 1) {
    y = x.Over("sum", axes, keep);
  } else if (p == 2) {
    y = Sqrt((x * x).Over("sum", axes, keep));
  } else {
    const Term sum = x.Call("power", x.Number(p)).Over("sum", axes, keep);
    y = sum.Call("power", sum.Number(1 / p));
  }
  return y.As(given.dtype());
}
Results Norm(Call& n) {
  Term x = Real(n);
  if (n.Has("dtype")) x = x.As(n.Dtype().value_or(x.dtype()));
  const double p = n.Arg("p").is(Argument::Kind::kString) ? 2 : n.Float("p", 2);
  return {PowerNorm(x, p, AxesOf(n, x.rank()), Keeps(n))};
}
Results FrobeniusNorm(Call& n) {
  const Term x = Real(n);
  return {PowerNorm(x, 2, AxesOf(n, x.rank()), Keeps(n))};
}

Results LogOfSums(Call& n) {
  const Term given = Real(n), x = given.As(SumType(given.dtype()));
  const std::vector<int64_t> axes = AxesOf(n, x.rank());
  if (axes.empty()) return {given};
  const Term most = x.Over("max", axes, true);
  const Term finite = Select(most.Call("isfinite"), most, most.Number(0));
  const Term sum = Exp(x - finite).Over("sum", axes, Keeps(n)).Call("log");
  const Term add = Keeps(n) ? finite : Term(n, n.b().Squeeze(finite, axes));
  return {(sum + add).As(given.dtype())};
}

// --- Along an axis ---

template <OpName kName>
Results Accumulated(Call& n) {
  const Term x(n, 0);
  const DType own = IsFloat(x.dtype()) ? x.dtype() : DType::kInt64;
  const DType t = n.Dtype().value_or(own);
  const int axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok() || x.rank() == 0) return {x.As(t)};
  return {x.As(SumType(t)).Call(kName.chars, {{"axis", axis}}).As(t)};
}
// By rows of what stands before each: what is greatest so far, and its last place.
template <OpName kName>
Results AccumulatedExtreme(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() == 0) return {x, b.Int(0)};
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const bool greatest = std::string_view(kName.chars) == "max";
  const Term rows = x.Transpose(AxisMoved(x.rank(), axis, x.rank() - 1));
  const int rank = rows.rank();
  const Term extent = Extent(b, rows, rank - 1), at = Range(extent);
  const Term before = at.Expand(0) <= at.Expand(1);  // (place, what stands before it)
  const double least = IsFloat(x.dtype()) ? (greatest ? -HUGE_VAL : HUGE_VAL) : 0;
  Term wide = rows.Expand(rank - 1);
  Term fill = wide.Number(least);
  if (!IsFloat(x.dtype())) {
    const Term end = rows.Over(greatest ? "min" : "max", {rank - 1}).Expand(rank - 1);
    fill = end;
  }
  const Term seen = Select(before, wide, fill);
  Term best = seen.Over(kName.chars, {rank}, false);
  Term hit = And(Equal(wide, best.Expand(rank)), before);
  if (IsFloat(x.dtype())) {
    // From the first NaN on it is NaN, whose last place counts.
    const Term bad = And(wide.Call("isnan"), before), any = bad.Over("any", {rank}, false);
    best = Select(any, best.Number(NAN), best);
    hit = Select(any.Expand(rank), bad, hit);
  }
  const Term place = Select(hit, at, at.Number(-1)).Over("max", {rank}, false);
  const auto back = AxisMoved(rank, rank - 1, axis);
  return {best.Transpose(back), place.Transpose(back)};
}
Results LogAccumulated(Call& n) {
  const Term x = Real(n);
  const int axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok() || x.rank() == 0) return {x};
  constexpr int64_t kFew = 256;
  const Dim extent = x.value().dim(axis);
  if (extent.is_const() && extent.value() <= kFew) {
    // Each by what is greatest before it.
    const int last = x.rank() - 1;
    const Term rows = x.Transpose(AxisMoved(x.rank(), axis, last)).As(DType::kFloat64);
    const Term at = RangeOf(n.b(), rows, last), before = at.Expand(0) <= at.Expand(1);
    const Term seen = Select(before, rows.Expand(last), rows.Number(-HUGE_VAL));
    const Term top = seen.Over("max", {last + 1});
    const Term base = Select(top.Call("isfinite"), top, top.Number(0));
    const Term sum = Exp(seen - base).Over("sum", {last + 1}).Call("log") + base;
    const Term y(n, n.b().Squeeze(sum, {last + 1}));
    return {y.Transpose(AxisMoved(x.rank(), last, axis)).As(x.dtype())};
  }
  const Term wide = x.As(DType::kFloat64), most = wide.Over("max", {axis});
  const Term base = Select(most.Call("isfinite"), most, most.Number(0));
  const Term sum = Exp(wide - base).Call("cumsum", {{"axis", axis}});
  return {(sum.Call("log") + base).As(x.dtype())};
}
Results Difference(Call& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const int axis = n.Axis("dim", x.rank(), -1);
  if (!b.status().ok()) return {};
  std::vector<Value> parts;
  if (n.Has("prepend")) parts.push_back(n.Tensor("prepend"));
  parts.push_back(x);
  if (n.Has("append")) parts.push_back(n.Tensor("append"));
  if (n.Int("n", 1) == 0) return {x};
  x = Term(b, b.Concat(parts, axis));
  for (int64_t i = n.Int("n", 1); i > 0 && i < 64; --i) {
    const Term to = x.Slice(axis, 1, INT64_MAX), from = x.Slice(axis, 0, -1);
    x = x.dtype() == DType::kBool ? to.Call("logical_xor", from) : to - from;
  }
  return {x};
}
Results Trapezoid(Call& n) {
  TypedBuilder& b = n.b();
  const Term y = Real(n);
  const int axis = n.Axis("dim", y.rank(), -1);
  if (!b.status().ok()) return {};
  const Term pairs = (y.Slice(axis, 1, INT64_MAX) + y.Slice(axis, 0, -1)) * 0.5;
  if (!n.Has("x")) return {pairs.Over("sum", {axis}, false) * n.Float("dx", 1)};
  Term x(n, n.Tensor("x"));
  if (x.rank() == 1) x = Along(x, axis, y.rank());
  const int at = x.rank() == y.rank() ? axis : x.rank() - 1;
  const Term width = x.Slice(at, 1, INT64_MAX) - x.Slice(at, 0, -1);
  return {(pairs * width.As(pairs.dtype())).Over("sum", {axis}, false)};
}
Results Trace(Call& n) {
  const Value diagonal = n.ValueAs("aten::diagonal", {n.Arg(size_t{0})});
  return n.As("aten::sum", {diagonal});
}

Results EqualAll(Call& n) {
  const Term x(n, 0), y(n, 1);
  if (x.rank() != y.rank()) return {Argument::Bool(false)};
  for (int i = 0; i < x.rank(); ++i) {
    if (Dim::ProvablyDifferent(x.value().dim(i), y.value().dim(i))) return {Argument::Bool(false)};
  }
  const Term same = Equal(x, y);
  const Term all = same.rank() == 0 ? same : same.Over("all", Iota(same.rank()), false);
  return {ScalarArgument(n, all)};
}
Results AllClose(Call& n) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < n.size(); ++i) arguments.push_back(n.Arg(i));
  const Term close(n, n.ValueAs("aten::isclose", arguments));
  const Term all = close.rank() == 0 ? close : close.Over("all", Iota(close.rank()), false);
  return {ScalarArgument(n, all)};
}

constexpr OperatorDef kReduceOperators[] = {
    {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", Sum<"sum">},
    {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
     "dtype=None) -> Tensor",
     Sum<"sum">},
    {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", Sum<"prod">},
    {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     Sum<"prod">},
    {"aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
     "-> Tensor",
     NanSum},
    {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", Requantising<Mean>,
     Takes::kQuantised},
    {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     Requantising<Mean>, Takes::kQuantised},
    {"aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
     "-> Tensor",
     NanMean},
    {"aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", CountNonZero},
    {"aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", CountNonZero},
    {"aten::any(Tensor self) -> Tensor", Truths<"any">},
    {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", Truths<"any">},
    {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", Truths<"any">},
    {"aten::all(Tensor self) -> Tensor", Truths<"all">},
    {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", Truths<"all">},
    {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", Truths<"all">},
    {"aten::max(Tensor self) -> Tensor", Extremes<"max">},
    {"aten::min(Tensor self) -> Tensor", Extremes<"min">},
    {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", Extremes<"max">},
    {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", Extremes<"min">},
    {"aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
     MinAndMax},
    {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     ExtremeAlong<"max", "argmax">},
    {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     ExtremeAlong<"min", "argmin">},
    {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", Place<"argmax">},
    {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", Place<"argmin">},
    {"aten::var(Tensor self, bool unbiased=True) -> Tensor", Variance<false, false>},
    {"aten::var.correction(Tensor self, int[1]? dim, *, Scalar? correction=None, bool "
     "keepdim=False) -> "
     "Tensor",
     Variance<false, false>},
    {"aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
     Variance<false, false>},
    {"aten::std(Tensor self, bool unbiased=True) -> Tensor", Variance<true, false>},
    {"aten::std.correction(Tensor self, int[1]? dim, *, Scalar? correction=None, bool "
     "keepdim=False) -> "
     "Tensor",
     Variance<true, false>},
    {"aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
     Variance<true, false>},
    {"aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", Variance<false, true>},
    {"aten::var_mean.correction(Tensor self, int[1]? dim, *, Scalar? correction=None, bool "
     "keepdim=False) "
     "-> (Tensor, Tensor)",
     Variance<false, true>},
    {"aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     Variance<false, true>},
    {"aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", Variance<true, true>},
    {"aten::std_mean.correction(Tensor self, int[1]? dim, *, Scalar? correction=None, bool "
     "keepdim=False) "
     "-> (Tensor, Tensor)",
     Variance<true, true>},
    {"aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     Variance<true, true>},
    {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", Norm},
    {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
     Norm},
    {"aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
     "ScalarType dtype) -> Tensor",
     Norm},
    {"aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", Norm},
    {"aten::frobenius_norm(Tensor self) -> Tensor", FrobeniusNorm},
    {"aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     FrobeniusNorm},
    {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", LogOfSums},
    {"aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", LogOfSums},
    {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     Accumulated<"cumsum">},
    {"aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     Accumulated<"cumprod">},
    {"aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     AccumulatedExtreme<"max">},
    {"aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     AccumulatedExtreme<"min">},
    {"aten::logcumsumexp(Tensor self, int dim) -> Tensor", LogAccumulated},
    {"aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
     "Tensor",
     Difference},
    {"aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", Trapezoid},
    {"aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", Trapezoid},
    {"aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", Trapezoid},
    {"aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", Trapezoid},
    {"aten::trace(Tensor self) -> Tensor", Trace},
    {"aten::equal(Tensor self, Tensor other) -> bool", EqualAll},
    {"aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
     "atol=1e-08, bool equal_nan=False) -> bool",
     AllClose},
};

}  // namespace

OperatorTable ReduceOperators() { return kReduceOperators; }

}  // namespace relayvm::import::torch
