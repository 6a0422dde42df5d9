// Reductions, searches, running sums.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/tensorflow/complex.h"

namespace relayvm::import::tensorflow {

namespace {

// `op` over the axes of input 1.
Value Reduced(NodeContext& n, const Value& x, std::string_view op) {
  TypedBuilder& b = n.b();
  const bool keep = n.Bool("keep_dims", n.Bool("keepdims", false));
  const auto known = b.ConstantInts(n.Input(1));
  if (!known) {
    const Term axes = AsVector(Term(n, 1));
    const auto count = CountOf(n, axes, "reduction_indices");
    if (!count) return {};
    InputName of(n, 0, "input");
    of.value = x;
    InputName by(n, 1, "reduction_indices");
    by.value = axes;
    return ReduceBy(of, op, CheckedAxes(by, x.rank(), *count), keep, /*none_is_all=*/false);
  }
  const std::vector<int64_t> axes = n.Axes(*known, x.rank(), n.InputText(1, "reduction_indices"));
  if (axes.empty() || !Ok(n)) return x;
  return b.Op(op, {x}, {{"axis", ListOf(axes)}, {"keepdims", keep}});
}

template <OpName kName>
Outputs Reduce(NodeContext& n) {
  return {Reduced(n, n.Input(0), kName.chars)};
}

// Of the largest and the smallest, NaN is both.
template <OpName kName>
Outputs Extreme(NodeContext& n) {
  const Term x(n, 0), y(n, Reduced(n, x, kName.chars));
  if (!IsFloat(x.dtype())) return {y};
  const Term nan(n, Reduced(n, x.Call("isnan").As(DType::kUInt8), "max"));
  return {Select(nan, y.Number(NAN), y)};
}

Outputs ProdOf(NodeContext& n) {
  if (!HasComplex(n)) return Reduce<"prod">(n);
  // By sizes and angles: of complex numbers no operator has the product.
  const Complex x = ComplexOf(n, n.Input(0));
  const Term size(n, Reduced(n, SizeOf(x), "prod"));
  const Term angle(n, Reduced(n, AngleOf(x.im, x.re), "sum"));
  return {PairOf(n, {size * Cos(angle), size * Sin(angle)})};
}

// Of whole numbers the quotient of their sum without its fraction.
Outputs MeanOf(NodeContext& n) {
  const Term x(n, 0);
  if (IsFloat(x.dtype())) return Reduce<"mean">(n);
  const DType wide = x.dtype() == DType::kUInt64 ? DType::kUInt64 : DType::kInt64;
  const Term sum(n, Reduced(n, x.As(wide), "sum"));
  const Term count(n, Reduced(n, x.As(wide).Call("ones_like"), "sum"));
  return {sum.Call("trunc_divide", count).As(x.dtype())};
}

Outputs EuclideanNorm(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0));
    const Term size = Sqrt(Term(n, Reduced(n, x.re * x.re + x.im * x.im, "sum")));
    return {PairOf(n, {size, size.Call("zeros_like")})};
  }
  const Term x(n, 0);
  if (IsFloat(x.dtype())) return {Sqrt(Term(n, Reduced(n, x * x, "sum")))};
  // Squares of whole numbers wrap, and so do their sums.
  const Term sum(n, Reduced(n, x * x, "sum"));
  return {Sqrt(Maximum(sum, sum.Number(0)).As(DType::kFloat64)).As(x.dtype())};
}

template <OpName kName>
Outputs ArgOf(NodeContext& n) {
  const auto at = n.Has(1) ? n.ConstantInt(1, "dimension") : std::optional<int64_t>(0);
  if (!at) return {};
  const int axis = n.Axis(*at, n.Input(0).rank(), n.InputText(1, "dimension"));
  const Value y =
      n.b().Op(kName.chars, {n.Input(0)}, {{"axis", AttrList{axis}}, {"keepdims", false}});
  return {n.b().Cast(y, n.Type("output_type", DType::kInt64))};
}

// --- Running sums ---

std::optional<int> RunningAxis(NodeContext& n) {
  const auto at = n.ConstantInt(1, "axis");
  if (!at) return std::nullopt;
  const int axis = n.Axis(*at, n.Input(0).rank(), n.InputText(1, "axis"));
  return Ok(n) ? std::optional(axis) : std::nullopt;
}

template <OpName kName>
Outputs Running(NodeContext& n) {
  const auto axis = RunningAxis(n);
  if (!axis) return {};
  return {n.b().Op(kName.chars, {n.Input(0)},
                   {{"axis", *axis},
                    {"exclusive", n.Bool("exclusive", false)},
                    {"reversed", n.Bool("reverse", false)}})};
}

// The logarithms of running sums of exponentials: each by the largest number so far, which doubling
// steps find: of so many elements and those before as many again.
Outputs RunningLogSumExp(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto found = RunningAxis(n);
  if (!found) return {};
  const int axis = *found;
  Term x(n, 0);
  const bool reverse = n.Bool("reverse", false), exclusive = n.Bool("exclusive", false);
  const Dim extent = x.value().dim(axis);
  if (!extent.is_const()) {
    // By the largest of all.
    const Term most = Max(x, {axis});
    const Term sum = Exp(x - most).Call(
        "cumsum", {{"axis", axis}, {"exclusive", exclusive}, {"reversed", reverse}});
    return {Log(sum) + most};
  }
  const auto moved = [&](const Term& v, int64_t by) {
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(v.rank()));
    widths[static_cast<size_t>(axis)] =
        reverse ? std::pair(int64_t{0}, by) : std::pair(by, int64_t{0});
    AttrList pads;
    for (const auto& [before, after] : widths) pads.emplace_back(AttrList{before, after});
    const Term padded(b, b.Op("nn.pad", {v, v.Number(-HUGE_VAL)}, {{"pad_width", pads}}));
    return reverse ? padded.Slice(axis, by, INT64_MAX) : padded.Slice(axis, 0, extent.value());
  };
  if (exclusive) x = moved(x, 1);
  for (int64_t by = 1; by < extent.value(); by *= 2) {
    const Term other = moved(x, by);
    const Term high = Maximum(x, other), low = Minimum(x, other);
    // Both may be -infinity.
    const Term gap = Select(Equal(low, -HUGE_VAL), low, low - high);
    x = high + Log1p(Exp(gap));
  }
  return {x};
}

constexpr OperatorDef kReduceOperators[] = {
    {"All", 2, 2, Reduce<"all">},
    {"Any", 2, 2, Reduce<"any">},
    {"ArgMax", 1, 2, ArgOf<"argmax">},
    {"ArgMin", 1, 2, ArgOf<"argmin">},
    {"Cumprod", 2, 2, Running<"cumprod">},
    {"Cumsum", 2, 2, OfParts<Running<"cumsum">>},
    {"CumulativeLogsumexp", 2, 2, RunningLogSumExp},
    {"EuclideanNorm", 2, 2, EuclideanNorm},
    {"Max", 2, 2, Extreme<"max">},
    {"Mean", 2, 2, OfParts<MeanOf>},
    {"Min", 2, 2, Extreme<"min">},
    {"Prod", 2, 2, ProdOf},
    {"Sum", 2, 2, OfParts<Reduce<"sum">>},
};

}  // namespace

std::span<const OperatorDef> ReduceOperators() { return kReduceOperators; }

}  // namespace relayvm::import::tensorflow
