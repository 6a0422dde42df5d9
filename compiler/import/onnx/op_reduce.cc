// Reductions and searches.
#include "compiler/import/onnx/convert.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

// `op` over the node's axes.
Value Reduce(NodeContext& n, const Value& x, const char* op) {
  const auto axes = n.AxesOf("axes", 1);
  const bool keep = n.Int("keepdims", 1) != 0;
  if (!axes || axes->empty()) {
    if (n.Int("noop_with_empty_axes", 0) != 0) return x;
    return n.b().Op(op, {x}, {{"keepdims", keep}});
  }
  return n.b().Op(op, {x}, {{"axis", ListOf(n.Axes(*axes, x.rank()))}, {"keepdims", keep}});
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
Outputs ReduceLogSum(NodeContext& n) { return {n.b().Op("log", {Reduce(n, n.Input(0), "sum")})}; }

Outputs ArgExtreme(NodeContext& n, const char* op) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  const Value y = b.Op(op, {x},
                       {{"axis", AttrList{axis}},
                        {"keepdims", n.Int("keepdims", 1) != 0},
                        {"select_last_index", n.Int("select_last_index", 0) != 0}});
  return {b.Cast(y, DType::kInt64)};
}
Outputs ArgMax(NodeContext& n) { return ArgExtreme(n, "argmax"); }
Outputs ArgMin(NodeContext& n) { return ArgExtreme(n, "argmin"); }

constexpr OperatorDef kOperators[] = {
    {"ArgMax", 1, 1, ArgMax},
    {"ArgMin", 1, 1, ArgMin},
    {"ReduceL1", 1, 2, ReduceL1},
    {"ReduceL2", 1, 2, ReduceL2},
    {"ReduceLogSum", 1, 2, ReduceLogSum},
    {"ReduceMax", 1, 2, Plain<"max">},
    {"ReduceMean", 1, 2, Plain<"mean">},
    {"ReduceMin", 1, 2, Plain<"min">},
    {"ReduceProd", 1, 2, Plain<"prod">},
    {"ReduceSum", 1, 2, Plain<"sum">},
    {"ReduceSumSquare", 1, 2, ReduceSumSquare},
};

}  // namespace

std::span<const OperatorDef> ReduceOperators() { return kOperators; }

}  // namespace relayvm::import
