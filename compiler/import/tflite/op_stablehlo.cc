// Operators of StableHLO: element by element, moves, products of matrices.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/quantised.h"
#include "compiler/import/tflite/spread.h"
#include "compiler/import/tflite/stablehlo.h"

namespace relayvm::import::tflite {

namespace {

template <size_t N>
struct OpOf {
  constexpr OpOf(const char (&text)[N]) { std::copy_n(text, N, value); }  // NOLINT
  char value[N];
};

template <OpOf kOp>
Outputs One(NodeContext& n) {
  return {Term(n, 0).Call(kOp.value)};
}
template <OpOf kOp>
Outputs Two(NodeContext& n) {
  return {Term(n, 0).Call(kOp.value, n.Input(1))};
}
// NaN on the left stays.
template <OpOf kOp>
Outputs LeftExtreme(NodeContext& n) {
  return {Term(n, 1).Call(kOp.value, n.Input(0))};
}
// Of truths, or of bits.
template <OpOf kOfTruths, OpOf kOfBits>
Outputs TwoOfBits(NodeContext& n) {
  const bool truths = n.Input(0).dtype() == DType::kBool;
  return {Term(n, 0).Call(truths ? kOfTruths.value : kOfBits.value, n.Input(1))};
}

Outputs Between(NodeContext& n) { return {Clamp(Term(n, 1), Term(n, 0), Term(n, 2))}; }

Outputs CubeRoot(NodeContext& n) {
  const Term x(n, 0), size = Abs(x);
  const Term root = size.Call("power", size.Number(1.0 / 3));
  return {Select(x < 0, -root, root)};
}

Outputs Chosen(NodeContext& n) { return {Select(Term(n, 0), Term(n, 1), Term(n, 2))}; }

Outputs Compared(NodeContext& n) {
  constexpr const char* kOps[] = {"equal",   "not_equal",  "greater_equal",
                                  "greater", "less_equal", "less"};
  const uint32_t direction = n.Get2<fb::StablehloCompareOptions>().comparison_direction();
  if (direction >= std::size(kOps)) return n.Fail("comparison {}", direction);
  return {Term(n, 0).Call(kOps[direction], n.Input(1))};
}

Outputs Converted(NodeContext& n) {
  const auto dtype = n.Out().dtype;
  if (!dtype) return n.Unsupported("elements of {}", TypeName(n.Out().type));
  return {Term(n, 0).As(*dtype)};
}

// The shape that the file declares: these operators have static ones.
std::optional<std::vector<int64_t>> DeclaredShape(NodeContext& n) {
  const std::vector<int64_t>& shape = n.Out().shape;
  if (std::ranges::any_of(shape, [](int64_t d) { return d < 0; })) {
    n.Unsupported("a shape that is open");
    return std::nullopt;
  }
  return shape;
}

Outputs Reshaped(NodeContext& n) {
  const auto shape = DeclaredShape(n);
  return shape ? Outputs{ShapedAs(n, n.Input(0), {n.b().Ints(*shape)})} : Outputs{};
}

Outputs Joined(NodeContext& n) {
  if (n.num_inputs() == 0) return n.Fail("there is nothing to join");
  const int axis = n.Axis(n.Get2<fb::StablehloConcatenateOptions>().dimension(), n.Input(0).rank());
  return {n.b().Concat(n.inputs(), axis)};
}

Outputs BroadcastInDims(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto shape = DeclaredShape(n);
  const std::vector<int64_t> axes =
      LongsOf(n.Get2<fb::StablehloBroadcastInDimOptions>().broadcast_dimensions());
  if (!shape) return {};
  const Value x = n.Input(0);
  if (static_cast<int>(axes.size()) != x.rank())
    return n.Fail("{} dims of {}", axes.size(), x.rank());
  std::vector<Value> dims(shape->size(), b.Ints({1}));
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool rises = i == 0 || axes[i] > axes[i - 1];
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(shape->size()) || !rises)
      return n.Unsupported("dims in another order");
    dims[static_cast<size_t>(axes[i])] = b.DimOf(x, static_cast<int>(i));
  }
  return {b.Op("broadcast_to", {ShapedAs(b, x, dims)},
               {{"shape", ListOf(*shape)}, {"dtype", std::string(DTypeName(x.dtype()))}})};
}

Outputs Sliced(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloSliceOptions>();
  const auto begin = LongsOf(o.start_indices()), end = LongsOf(o.limit_indices());
  const auto steps = LongsOf(o.strides());
  const auto rank = static_cast<size_t>(n.Input(0).rank());
  if (begin.size() != rank || end.size() != rank || steps.size() != rank)
    return n.Fail("expected {} numbers", rank);
  return {n.b().Op("strided_slice", {n.Input(0)},
                   {{"begin", ListOf(begin)}, {"end", ListOf(end)}, {"strides", ListOf(steps)}})};
}

// Starts that are inputs, one for each axis, so that the part lies inside.
std::optional<Term> StartsOf(NodeContext& n, size_t first, const std::vector<Value>& sizes) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (n.num_inputs() != first + static_cast<size_t>(x.rank()) || x.rank() == 0)
    return n.Fail("expected a start for each axis");
  std::vector<Value> starts;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(i);
    const Term at = AsVector(Term(n, first + k).As(DType::kInt64));
    starts.push_back(Clamp(at, at.Number(0), Term(b, b.DimOf(x, i)) - Term(b, sizes[k])));
  }
  return Term(b, b.Concat(starts, 0));
}

Outputs DynamicSlice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto sizes = LongsOf(n.Get2<fb::StablehloDynamicSliceOptions>().slice_sizes());
  if (static_cast<int>(sizes.size()) != n.Input(0).rank()) return n.Fail("{} sizes", sizes.size());
  std::vector<Value> each;
  for (const int64_t s : sizes) each.push_back(b.Ints({s}));
  const auto begin = StartsOf(n, 1, each);
  if (!begin) return {};
  const Term end = *begin + Term(b, b.Ints(sizes));
  const Value y = b.Op("dyn.strided_slice",
                       {n.Input(0), *begin, end, b.Ints(std::vector<int64_t>(sizes.size(), 1))});
  return {ShapedAs(b, y, {b.Ints(sizes)})};
}

Outputs DynamicUpdate(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), update = n.Input(1);
  if (update.rank() != x.rank()) return n.Fail("ranks do not fit");
  std::vector<Value> sizes;
  for (int i = 0; i < x.rank(); ++i) sizes.push_back(b.DimOf(update, i));
  const auto begin = StartsOf(n, 2, sizes);
  if (!begin) return {};
  const Term end = *begin + Term(b, b.Concat(sizes, 0));
  const std::vector<int64_t> ones(sizes.size(), 1);
  return {b.Op("strided_set", {x, update, *begin, end, b.Ints(ones)})};
}

Outputs PaddedAround(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloPadOptions>();
  const auto low = LongsOf(o.edge_padding_low()), high = LongsOf(o.edge_padding_high());
  const auto inside = LongsOf(o.interior_padding());
  Term x(n, 0);
  const Term fill = AsScalar(Term(n, 1));
  if (low.size() != high.size() || static_cast<int>(low.size()) != x.rank() ||
      (!inside.empty() && inside.size() != low.size())) {
    return n.Fail("expected numbers for each axis");
  }
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (size_t i = 0; i < low.size(); ++i) {
    widths.emplace_back(low[i], high[i]);
    if (inside.empty()) continue;
    if (inside[i] < 0 || inside[i] > INT32_MAX) return n.Fail("{} elements between two", inside[i]);
    x = Spread(x, static_cast<int>(i), inside[i] + 1, fill);
  }
  const auto y = Padded(n, x, std::move(widths), {.fill = fill});
  return y ? Outputs{*y} : Outputs{};
}

Outputs Numbered(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto shape = DeclaredShape(n);
  const auto dtype = n.Out().dtype;
  if (!shape || !dtype) return {};
  const auto rank = static_cast<int>(shape->size());
  const int axis = n.Axis(n.Get2<fb::StablehloIotaOptions>().iota_dimension(), rank);
  if (!b.status().ok()) return {};
  const Term along =
      Along(Range(Term(b, b.Int((*shape)[static_cast<size_t>(axis)]))), axis, rank).As(*dtype);
  return {b.Op("broadcast_to", {along},
               {{"shape", ListOf(*shape)}, {"dtype", std::string(DTypeName(*dtype))}})};
}

Outputs Turned(NodeContext& n) {
  const auto order = LongsOf(n.Get2<fb::StablehloTransposeOptions>().permutation());
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  if (sorted != Iota(n.Input(0).rank())) return n.Fail("expected an order of its axes");
  return {n.b().Transpose(n.Input(0), order)};
}

// Axes of one side of a product: those of the batch, free ones, those that are summed.
struct Side {
  Value x;
  std::vector<int64_t> batch, free, summed;
};
std::optional<Side> SideOf(NodeContext& n, size_t input, std::vector<int64_t> batch,
                           std::vector<int64_t> summed) {
  Side side{n.Input(input), std::move(batch), {}, std::move(summed)};
  std::vector<int64_t> all = side.batch;
  all.insert(all.end(), side.summed.begin(), side.summed.end());
  for (int i = 0; i < side.x.rank(); ++i)
    if (std::ranges::find(all, i) == all.end()) side.free.push_back(i);
  if (all.size() + side.free.size() != static_cast<size_t>(side.x.rank()))
    return n.Fail("axes of the product do not fit");
  return side;
}

// (batch, rows, columns) of a side, `summed_last` or in the middle.
Value AsMatrices(TypedBuilder& b, const Side& s, bool summed_last) {
  std::vector<int64_t> order = s.batch;
  const auto& middle = summed_last ? s.free : s.summed;
  const auto& last = summed_last ? s.summed : s.free;
  order.insert(order.end(), middle.begin(), middle.end());
  order.insert(order.end(), last.begin(), last.end());
  const Value x = b.Transpose(s.x, order);
  const auto one = static_cast<int>(s.batch.size()), two = one + static_cast<int>(middle.size());
  return ShapedAs(b, x,
                  {ProductOfDims(b, x, 0, one), ProductOfDims(b, x, one, two),
                   ProductOfDims(b, x, two, x.rank())});
}

Outputs DotGeneral(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get2<fb::StablehloDotGeneralOptions>();
  const auto x =
      SideOf(n, 0, LongsOf(o.lhs_batching_dimensions()), LongsOf(o.lhs_contracting_dimensions()));
  const auto y = x ? SideOf(n, 1, LongsOf(o.rhs_batching_dimensions()),
                            LongsOf(o.rhs_contracting_dimensions()))
                   : std::nullopt;
  if (!y) return {};
  const Value product = b.Op("nn.batch_matmul", {AsMatrices(b, *x, true), AsMatrices(b, *y, false)},
                             {{"transpose_a", false}, {"transpose_b", false}});
  std::vector<Value> dims;
  for (const int64_t i : x->batch) dims.push_back(b.DimOf(x->x, static_cast<int>(i)));
  for (const int64_t i : x->free) dims.push_back(b.DimOf(x->x, static_cast<int>(i)));
  for (const int64_t i : y->free) dims.push_back(b.DimOf(y->x, static_cast<int>(i)));
  return {ShapedAs(b, product, dims)};
}

// Of one tensor, by a subgraph of one operator, from a first value.
Outputs ReducedBy(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloReduceOptions>();
  if (n.num_inputs() != 2) return n.Unsupported("reductions of several tensors");
  const auto known = ReductionOf(n, o.body_subgraph_index());
  if (!known) return {};
  if (known->over == nullptr)
    return n.Unsupported("a reduction that takes the last of its elements");
  std::vector<int64_t> axes;
  for (const int64_t a : LongsOf(o.dimensions())) axes.push_back(n.Axis(a, n.Input(0).rank()));
  if (!n.b().status().ok()) return {};
  const Term y = Term(n, 0).Over(known->over, axes, /*keep=*/false);
  return {y.Call(known->with, AsScalar(Term(n, 1)))};
}

}  // namespace

std::optional<Reduction> ReductionOf(NodeContext& n, int32_t subgraph) {
  const auto& graphs = n.importer().file().subgraphs();
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= graphs.size())
    return n.Fail("subgraph {}: the model has {}", subgraph, graphs.size());
  const auto* body = graphs[static_cast<size_t>(subgraph)].table->operators();
  if (body == nullptr || body->size() == 0) return Reduction{nullptr, nullptr, "update"};
  if (body->size() != 1) return n.Unsupported("a body of several operators");
  struct Row {
    Code code, other;
    Reduction reduction;
  };
  constexpr Row kKnown[] = {
      {Code::ADD, Code::STABLEHLO_ADD, {"sum", "add", "add"}},
      {Code::MUL, Code::STABLEHLO_MULTIPLY, {"prod", "multiply", "mul"}},
      {Code::MAXIMUM, Code::STABLEHLO_MAXIMUM, {"max", "maximum", "max"}},
      {Code::MINIMUM, Code::STABLEHLO_MINIMUM, {"min", "minimum", "min"}},
      {Code::LOGICAL_AND, Code::STABLEHLO_AND, {"all", "logical_and", nullptr}},
      {Code::LOGICAL_OR, Code::STABLEHLO_OR, {"any", "logical_or", nullptr}},
  };
  const Code code = n.importer().file().CodeOf(*body->Get(0));
  const auto* row =
      std::ranges::find_if(kKnown, [&](const Row& r) { return r.code == code || r.other == code; });
  if (row != std::end(kKnown)) return row->reduction;
  return n.Unsupported("a reduction by {}", fb::EnumNameBuiltinOperator(code));
}

std::span<const OperatorDef> StablehloOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::STABLEHLO_LOGISTIC, 1, 1, One<"sigmoid">},
      {Code::STABLEHLO_ABS, 1, 1, One<"abs">},
      {Code::STABLEHLO_COSINE, 1, 1, One<"cos">},
      {Code::STABLEHLO_EXPONENTIAL, 1, 1, One<"exp">},
      {Code::STABLEHLO_FLOOR, 1, 1, One<"floor">},
      {Code::STABLEHLO_LOG, 1, 1, One<"log">},
      {Code::STABLEHLO_NEGATE, 1, 1, One<"negative">},
      {Code::STABLEHLO_RSQRT, 1, 1, One<"rsqrt">},
      {Code::STABLEHLO_TANH, 1, 1, One<"tanh">},
      {Code::STABLEHLO_CBRT, 1, 1, CubeRoot},
      {Code::STABLEHLO_ADD, 2, 2, Two<"add">},
      {Code::STABLEHLO_SUBTRACT, 2, 2, Two<"subtract">},
      {Code::STABLEHLO_MULTIPLY, 2, 2, Two<"multiply">},
      {Code::STABLEHLO_DIVIDE, 2, 2, Two<"divide">},
      {Code::STABLEHLO_REMAINDER, 2, 2, Two<"mod">},
      {Code::STABLEHLO_MAXIMUM, 2, 2, LeftExtreme<"maximum">},
      {Code::STABLEHLO_MINIMUM, 2, 2, LeftExtreme<"minimum">},
      {Code::STABLEHLO_POWER, 2, 2, Two<"power">},
      {Code::STABLEHLO_SHIFT_LEFT, 2, 2, Two<"left_shift">},
      {Code::STABLEHLO_AND, 2, 2, TwoOfBits<"logical_and", "bitwise_and">},
      {Code::STABLEHLO_OR, 2, 2, TwoOfBits<"logical_or", "bitwise_or">},
      {Code::STABLEHLO_CLAMP, 3, 3, Between},
      {Code::STABLEHLO_SELECT, 3, 3, Chosen},
      {Code::STABLEHLO_CONVERT, 1, 1, Converted},
      {Code::STABLEHLO_COMPARE, 2, 2, Compared, Options::NONE, Options2::StablehloCompareOptions},
      {Code::STABLEHLO_RESHAPE, 1, 1, Reshaped},
      {Code::STABLEHLO_CONCATENATE, 1, -1, Joined, Options::NONE,
       Options2::StablehloConcatenateOptions},
      {Code::STABLEHLO_BROADCAST_IN_DIM, 1, 1, BroadcastInDims, Options::NONE,
       Options2::StablehloBroadcastInDimOptions},
      {Code::STABLEHLO_SLICE, 1, 1, Sliced, Options::NONE, Options2::StablehloSliceOptions},
      {Code::STABLEHLO_DYNAMIC_SLICE, 2, -1, DynamicSlice, Options::NONE,
       Options2::StablehloDynamicSliceOptions},
      {Code::STABLEHLO_DYNAMIC_UPDATE_SLICE, 3, -1, DynamicUpdate},
      {Code::STABLEHLO_PAD, 2, 2, PaddedAround, Options::NONE, Options2::StablehloPadOptions},
      {Code::STABLEHLO_IOTA, 0, 0, Numbered, Options::NONE, Options2::StablehloIotaOptions},
      {Code::STABLEHLO_TRANSPOSE, 1, 1, Turned, Options::NONE, Options2::StablehloTransposeOptions},
      {Code::STABLEHLO_DOT_GENERAL, 2, 2, DotGeneral, Options::NONE,
       Options2::StablehloDotGeneralOptions},
      {Code::STABLEHLO_REDUCE, 2, -1, ReducedBy, Options::NONE, Options2::StablehloReduceOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
