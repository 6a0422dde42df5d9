// Reductions. Those of MXNet's own interface give (1) for all elements; those of its numpy
// interface rank 0.
#include <cmath>

#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

// The axes that go; `exclude`: all but these.
std::vector<int64_t> ReducedAxes(Node& n, std::string_view name, int rank) {
  const std::vector<int64_t> given = n.Axes(n.Ints(name), rank);
  if (given.empty()) return Iota(rank);
  if (!n.Bool("exclude", false)) return given;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(given, i) == given.end()) axes.push_back(i);
  }
  return axes;
}

// Sums of halves are made in float32.
Term Wide(const Term& x) {
  return x.dtype() == DType::kFloat16 || x.dtype() == DType::kBFloat16 ? x.As(DType::kFloat32) : x;
}
Term Reduced(const Term& x, std::string_view op, const std::vector<int64_t>& axes, bool keep) {
  const Term wide = Wide(x);
  if (axes.empty()) return x;
  // Means of whole numbers lose their fractions, and sums of bytes what does not fit.
  if (op == "mean" && !IsFloat(wide.dtype())) {
    if (DTypeBytes(x.dtype()) > 1 || x.dtype() == DType::kBool)
      return wide.As(DType::kFloat64).Over(op, axes, keep).As(x.dtype());
    const Term sum = wide.As(DType::kInt32).Over("sum", axes, keep).As(x.dtype());
    Term count(x.b(), x.b().Int(1));
    for (const int64_t a : axes) count = count * Extent(x.b(), x, static_cast<int>(a));
    const Term safe = Maximum(count, count.Number(1)).As(DType::kInt32);
    return sum.As(DType::kInt32).Call("trunc_divide", safe).As(x.dtype());
  }
  const Term y = wide.Over(op, axes, keep).As(x.dtype());
  if ((op != "max" && op != "min") || !IsFloat(x.dtype())) return y;
  const Term is_lost = wide.Call("isnan").As(DType::kInt8).Over("max", axes, keep) > 0;
  return Select(is_lost, y.Number(NAN), y);
}

template <OpName kName>
Outputs Reduce(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  return {AtLeastVector(Reduced(x, kName.chars, axes, n.Bool("keepdims", false)))};
}
// NaN is not there: 0 of sums, 1 of products.
template <OpName kName>
Outputs NanReduce(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  const double nothing = std::string_view(kName.chars) == "sum" ? 0 : 1;
  const Term there = IsFloat(x.dtype()) ? Select(x.Call("isnan"), x.Number(nothing), x) : x;
  return {AtLeastVector(Reduced(there, kName.chars, axes, n.Bool("keepdims", false)))};
}
Term NormOver(const Term& in, int64_t order, const std::vector<int64_t>& axes, bool keep) {
  const Term x = Wide(AsReal(in));
  if (order == 1) return Abs(x).Over("sum", axes, keep);
  return Sqrt((x * x).Over("sum", axes, keep));
}
Outputs Norm(Node& n) {
  const Term x(n, 0);
  const int64_t order = n.Int("ord", 2);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  if (order != 1 && order != 2) return n.Unsupported("attribute ord: expected 1 or 2");
  const Term y = NormOver(x, order, axes, n.Bool("keepdims", false));
  return {AtLeastVector(y.As(n.Type("out_dtype", x.dtype())))};
}
Outputs SquareSum(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  return {AtLeastVector(Reduced(x * x, "sum", axes, n.Bool("keepdims", false)))};
}

// --- Places of the greatest and the least ---

// NaN is the greatest, and the least.
Term Places(const Term& given, std::string_view op, std::optional<int> axis, bool keep) {
  const double most = op == "argmax" ? HUGE_VAL : -HUGE_VAL;
  const Term in =
      IsFloat(given.dtype()) ? Select(given.Call("isnan"), given.Number(most), given) : given;
  if (axis) return in.Call(op, {{"axis", AttrList{*axis}}, {"keepdims", keep}});
  const Term flat = in.Reshape({-1}).Call(op, {{"axis", AttrList{0}}, {"keepdims", false}});
  return keep ? flat.Reshape(std::vector<int64_t>(static_cast<size_t>(in.rank()), 1)) : flat;
}
std::optional<int> AxisOrAll(Node& n, int rank) {
  const auto axis = n.MaybeInt("axis");
  return axis ? std::optional(n.Axis(*axis, rank)) : std::nullopt;
}
template <OpName kName>
Outputs Arg(Node& n) {
  const Term x(n, 0);
  const auto axis = AxisOrAll(n, x.rank());
  if (!n.b().status().ok()) return {};
  const Term y = Places(x, kName.chars, axis, n.Bool("keepdims", false));
  return {AtLeastVector(y.As(x.dtype() == DType::kBool ? DType::kFloat32 : x.dtype()))};
}
template <OpName kName>
Outputs NumpyArg(Node& n) {
  const Term x(n, 0);
  const auto axis = AxisOrAll(n, x.rank());
  if (!n.b().status().ok()) return {};
  return {Places(x, kName.chars, axis, n.Bool("keepdims", false)).As(DType::kInt64)};
}
Outputs ArgMaxChannel(Node& n) {
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected data of rank 2 or more");
  return {Places(x, "argmax", 1, false).As(x.dtype())};
}

// --- numpy ---

// With dtype and initial.
template <OpName kName>
Outputs NumpyReduce(Node& n) {
  Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  constexpr std::string_view op = kName.chars;
  const bool adds = op == "sum" || op == "prod";
  if (adds) x = x.As(n.Type("dtype", x.dtype() == DType::kBool ? DType::kInt64 : x.dtype()));
  if (!n.b().status().ok()) return {};
  Term y = x.dtype() == DType::kBool
               ? IsTrue(Reduced(x.As(DType::kInt8), op, axes, n.Bool("keepdims", false)))
               : Reduced(x, op, axes, n.Bool("keepdims", false));
  if (const auto initial = n.MaybeFloat("initial")) {
    const Term first = y.Number(*initial);
    y = op == "sum"    ? y + first
        : op == "prod" ? y * first
        : op == "max"  ? Maximum(y, first)
                       : Minimum(y, first);
  }
  return {y};
}
template <OpName kName>
Outputs NumpyTest(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  return {IsTrue(x).Over(kName.chars, axes, n.Bool("keepdims", false))};
}
// Floats as they are, whole numbers as float32, unless a dtype is asked for.
DType MeanType(Node& n, const Term& x) {
  return n.Type("dtype", IsFloat(x.dtype()) ? x.dtype() : DType::kFloat32);
}
Outputs NumpyMean(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  const DType dtype = MeanType(n, x);
  if (!n.b().status().ok()) return {};
  Term y = Wide(AsReal(x)).Over("mean", axes, n.Bool("keepdims", false)).As(dtype);
  if (const auto initial = n.MaybeFloat("initial")) y = y + *initial;
  return {y};
}
// The number of elements along axes, as a scalar of a real dtype.
Term CountAlong(const Term& x, const std::vector<int64_t>& axes, DType dtype) {
  TypedBuilder& b = x.b();
  Term count(b, b.Int(1));
  for (const int64_t axis : axes) count = count * Extent(b, x, static_cast<int>(axis));
  return count.As(dtype);
}
Term VarianceOver(const Term& in, const std::vector<int64_t>& axes, int64_t ddof, bool keep) {
  const Term x = Wide(AsReal(in));
  // The mean of whole numbers is whole.
  const Term mean = Mean(x, axes);
  const Term centred = x - (IsFloat(in.dtype()) ? mean : mean.Call("trunc"));
  const Term squares = centred * centred;
  if (ddof == 0) return squares.Over("mean", axes, keep);
  const Term count = CountAlong(x, axes, x.dtype()) - static_cast<double>(ddof);
  return squares.Over("sum", axes, keep) / count;
}
template <bool kDeviation>
Outputs NumpyMoment(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  const int64_t ddof = n.Count("ddof", 0);
  // Unlike means these stay whole.
  const bool whole = !n.HasAttr("dtype") && !IsFloat(x.dtype());
  const DType dtype = whole ? x.dtype() : MeanType(n, x);
  if (!n.b().status().ok()) return {};
  const Term variance = VarianceOver(x, axes, ddof, n.Bool("keepdims", false));
  return {(kDeviation ? Sqrt(variance) : variance).As(dtype)};
}
// The mean by weights, and their sum.
Outputs NumpyAverage(Node& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!b.status().ok()) return {};
  const DType dtype = x.dtype() == DType::kBool ? DType::kFloat32 : x.dtype();  // whole ones stay
  x = AsReal(x);
  if (!n.Bool("weighted", true) || !n.Has(1)) {
    const Term mean = x.Over("mean", axes, false);
    return {mean.As(dtype), (mean.Number(0) * mean + CountAlong(x, axes, x.dtype())).As(dtype)};
  }
  Term weights = AsReal(Term(n, 1)).As(x.dtype());
  if (weights.rank() == 1 && x.rank() > 1 && axes.size() == 1)
    weights = Along(weights, static_cast<int>(axes[0]), x.rank());
  const Term all = weights + x.Number(0) * x;  // as many as there are elements
  const Term sum = all.Over("sum", axes, false);
  return {((x * weights).Over("sum", axes, false) / sum).As(dtype), sum.As(dtype)};
}

// A norm of vectors along an axis, or of matrices along two (flag 2).
// `flag` says which norm is asked for: -2 of all, -1 the one that `ord` is, 0 the greatest singular
// value, 1 Frobenius', 2 the sum of singular values.
std::optional<Term> NormAsked(Node& n, const Term& x, const std::vector<int64_t>& axes, bool keep) {
  const int64_t flag = n.Int("flag", -1);
  const double order = n.Float("ord", 2);
  if (flag == -2 || flag == 1 || (axes.size() == 1 && order == 2))
    return NormOver(x, 2, axes, keep);
  const auto extreme = [&](const Term& v, const std::vector<int64_t>& along) {
    return v.Over(order > 0 ? "max" : "min", along, keep || along.size() < axes.size());
  };
  if (axes.size() == 1) {
    if (std::isinf(order)) return extreme(Abs(x), axes);
    if (order == 0) return Truth(IsTrue(x), x.dtype()).Over("sum", axes, keep);
    if (order == 1) return NormOver(x, 1, axes, keep);
    const Term powers = Abs(x).Call("power", x.Number(order)).Over("sum", axes, keep);
    return powers.Call("power", powers.Number(1 / order));
  }
  if (flag == -1 && axes.size() == 2 && (std::abs(order) == 1 || std::isinf(order))) {
    // The greatest or least sum of a column, or of a row.
    const size_t summed = std::isinf(order) ? 1 : 0;
    const Term y = extreme(Abs(x).Over("sum", {axes[summed]}), {axes[1 - summed]});
    return keep ? y : y.Call("squeeze", {{"axis", ListOf(axes)}});
  }
  if (flag == 0 || flag == 2) return n.Unsupported("norms of singular values");
  return n.Unsupported("attribute ord: norm {} of matrices", order);
}
Outputs NumpyNorm(Node& n) {
  const Term given(n, 0), x = AsReal(given);
  const std::vector<int64_t> axes = ReducedAxes(n, "axis", x.rank());
  if (!n.b().status().ok()) return {};
  const auto y = NormAsked(n, x, axes, n.Bool("keepdims", false));
  if (!y) return {};
  return {given.dtype() == DType::kBool ? IsTrue(*y) : CutTo(*y, given.dtype())};
}

Outputs CumSum(Node& n) {
  const Term x(n, 0);
  const DType dtype = n.Type("dtype", x.dtype() == DType::kBool ? DType::kInt64 : x.dtype());
  const auto axis = AxisOrAll(n, x.rank());
  if (!n.b().status().ok()) return {};
  const Term wide = Wide(x.As(dtype));
  const Term flat = axis ? wide : wide.Reshape({-1});
  return {flat.Call("cumsum", {{"axis", axis.value_or(0)}}).As(dtype)};
}

constexpr OperatorDef kReduceOperators[] = {
    {"_np_all", 1, 1, NumpyTest<"all">},
    {"_np_any _np_sometrue", 1, 1, NumpyTest<"any">},
    {"_np_cumsum cumsum", 1, 1, CumSum},
    {"_np_max _np_amax", 1, 1, NumpyReduce<"max">},
    {"_np_min _np_amin", 1, 1, NumpyReduce<"min">},
    {"_np_prod _np_product", 1, 1, NumpyReduce<"prod">},
    {"_np_sum", 1, 1, NumpyReduce<"sum">},
    {"_npi_argmax", 1, 1, NumpyArg<"argmax">},
    {"_npi_argmin", 1, 1, NumpyArg<"argmin">},
    {"_npi_average", 1, 2, NumpyAverage},
    {"_npi_mean", 1, 1, NumpyMean},
    {"_npi_norm", 1, 1, NumpyNorm},
    {"_npi_std", 1, 1, NumpyMoment<true>},
    {"_npi_var", 1, 1, NumpyMoment<false>},
    {"_square_sum", 1, 1, SquareSum},
    {"argmax", 1, 1, Arg<"argmax">},
    {"argmax_channel", 1, 1, ArgMaxChannel},
    {"argmin", 1, 1, Arg<"argmin">},
    {"max max_axis", 1, 1, Reduce<"max">},
    {"mean", 1, 1, Reduce<"mean">},
    {"min min_axis", 1, 1, Reduce<"min">},
    {"nanprod", 1, 1, NanReduce<"prod">},
    {"nansum", 1, 1, NanReduce<"sum">},
    {"norm", 1, 1, Norm},
    {"prod", 1, 1, Reduce<"prod">},
    {"sum sum_axis", 1, 1, Reduce<"sum">},
};

}  // namespace

std::span<const OperatorDef> ReduceOperators() { return kReduceOperators; }

}  // namespace relayvm::import::mxnet
