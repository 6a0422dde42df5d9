// Reductions and searches.
#include <cmath>

#include "compiler/import/composite/axes.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// Whether the axes are numbers that are only known when it runs, and a reduction over those of
// `data`: the node's, or what is made of it.
bool AxesAreOpen(NodeContext& n) {
  return n.Has(1) && !n.b().ConstantInts(n.Input(1)) && !n.Input(1).dim(0).is_const(0);
}
Value ReduceOverOpen(NodeContext& n, const Value& data, const char* op, bool keep) {
  const Dim count = n.Input(1).dim(0);
  const int64_t most = count.is_const() ? count.value() : data.rank();
  InputName of(n, 0, "data");
  of.value = data;
  return ReduceBy(of, op, CheckedAxes({n, 1, "axes"}, data.rank(), most), keep,
                  n.Int("noop_with_empty_axes", 0) == 0);
}

// `op` over the node's axes.
Value Reduce(NodeContext& n, const Value& x, const char* op) {
  TypedBuilder& b = n.b();
  const bool keep = n.Int("keepdims", 1) != 0;
  if (AxesAreOpen(n)) return ReduceOverOpen(n, x, op, keep);
  const bool none = n.Has(1) && n.Input(1).dim(0).is_const(0);
  const auto axes = none ? std::nullopt : n.AxesOf("axes", 1);
  if (!b.status().ok()) return x;
  if (!axes || axes->empty()) {
    if (n.Int("noop_with_empty_axes", 0) != 0 || x.rank() == 0) return x;
    return b.Op(op, {x}, {{"keepdims", keep}});
  }
  return b.Op(op, {x},
              {{"axis", ListOf(n.Axes(*axes, x.rank(), AxesText(n)))}, {"keepdims", keep}});
}

// Of the largest and the smallest, NaN is both.
template <OpName kName>
Outputs ReduceExtreme(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (x.dtype() == DType::kBool) {
    return {b.Cast(Reduce(n, b.Cast(x, DType::kUInt8), kName.chars), DType::kBool)};
  }
  const Value y = Reduce(n, x, kName.chars);
  if (!IsFloat(x.dtype())) return {y};
  const Value nan = Reduce(n, b.Cast(b.Op("isnan", {x}), DType::kUInt8), "max");
  return {b.Op("where", {nan, Like(n, x, NAN), y})};
}

// log(sum(e^x)) by the largest x, so that nothing overflows.
Outputs ReduceLogSumExp(NodeContext& n) {
  TypedBuilder& b = n.b();
  const bool ints = !IsFloat(n.Input(0).dtype());
  const Term x = ints ? Term(n, 0).As(DType::kFloat64) : Term(n, 0);
  // Over all elements at once: any number near the largest of a line will do for that line as long
  // as no line is far below, so each line has its own where the axes are known.
  Term largest = x.Number(0);
  const auto axes = n.Has(1) && !b.ConstantInts(n.Input(1)) ? std::nullopt : n.AxesOf("axes", 1);
  if (!b.status().ok()) return {};
  if (x.rank() > 0) {
    const std::vector<int64_t> over =
        axes && !axes->empty() ? n.Axes(*axes, x.rank(), AxesText(n)) : Iota(x.rank());
    if (!b.status().ok()) return {};
    if (!n.Has(1) || axes) {
      largest = Max(x, over);
    } else {
      largest = Term(b, ReduceOverOpen(n, x, "max", true));
    }
  }
  largest = Select(largest.Call("isfinite"), largest, largest.Number(0));
  const Term sum(b, Reduce(n, Exp(x - largest), "sum"));
  Term shift = largest;
  if (shift.rank() != sum.rank() && shift.rank() != 0) {
    shift = Term(b, ShapedAs(b, shift, {b.ShapeOf(sum)}));
  }
  if (axes && axes->empty() && n.Int("noop_with_empty_axes", 0) != 0) return {x};
  const Term y = sum.Call("log") + shift;
  return {ints ? y.As(n.Input(0).dtype()) : y};
}

template <OpName kName>
Outputs Plain(NodeContext& n) {
  return {Reduce(n, n.Input(0), kName.chars)};
}
Outputs ReduceL1(NodeContext& n) { return {Reduce(n, n.b().Op("abs", {n.Input(0)}), "sum")}; }
Value SumOfSquares(NodeContext& n) {
  return Reduce(n, n.b().Op("multiply", {n.Input(0), n.Input(0)}), "sum");
}
Outputs ReduceSumSquare(NodeContext& n) { return {SumOfSquares(n)}; }
Outputs ReduceL2(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value sum = SumOfSquares(n);
  if (IsFloat(sum.dtype())) return {b.Op("sqrt", {sum})};
  return {b.Cast(b.Op("sqrt", {b.Cast(sum, DType::kFloat64)}), sum.dtype())};
}
Outputs ReduceLogSum(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value sum = Reduce(n, n.Input(0), "sum");
  if (IsFloat(sum.dtype())) return {b.Op("log", {sum})};
  return {b.Cast(b.Op("log", {b.Cast(sum, DType::kFloat64)}), sum.dtype())};
}

template <OpName kName>
Outputs ArgExtreme(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  const Value y = b.Op(kName.chars, {x},
                       {{"axis", AttrList{axis}},
                        {"keepdims", n.Int("keepdims", 1) != 0},
                        {"select_last_index", n.Int("select_last_index", 0) != 0}});
  return {b.Cast(y, DType::kInt64)};
}

constexpr OperatorDef kReduceOperators[] = {
    {"ArgMax", 1, 1, ArgExtreme<"argmax">},
    {"ArgMin", 1, 1, ArgExtreme<"argmin">},
    {"ReduceL1", 1, 2, ReduceL1},
    {"ReduceL2", 1, 2, ReduceL2},
    {"ReduceLogSum", 1, 2, ReduceLogSum},
    {"ReduceLogSumExp", 1, 2, ReduceLogSumExp},
    {"ReduceMax", 1, 2, ReduceExtreme<"max">},
    {"ReduceMean", 1, 2, Plain<"mean">},
    {"ReduceMin", 1, 2, ReduceExtreme<"min">},
    {"ReduceProd", 1, 2, Plain<"prod">},
    {"ReduceSum", 1, 2, Plain<"sum">},
    {"ReduceSumSquare", 1, 2, ReduceSumSquare},
};

}  // namespace

std::span<const OperatorDef> ReduceOperators() { return kReduceOperators; }

}  // namespace relayvm::import
