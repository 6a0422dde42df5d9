// Sparse tensors: indices (n, rank), values (n), the dense shape (rank).
#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/tensorflow/segments.h"

namespace relayvm::import::tensorflow {

namespace {

Term Wide(NodeContext& n, size_t i) { return Term(n, i).As(DType::kInt64); }
// Column i of indices.
Term Column(const Term& indices, int64_t i) {
  return {indices.b(), indices.b().Squeeze(indices.Slice(1, i, i + 1), {1})};
}

Outputs SparseToDense(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term shape = Wide(n, 1);
  const auto rank = CountOf(n, shape, "output_shape");
  if (!rank) return {};
  Term indices = Wide(n, 0), values(n, 2);
  if (indices.rank() == 0) indices = indices.Expand(0);
  if (indices.rank() == 1) indices = indices.Expand(1);
  const std::string dtype(DTypeName(values.dtype()));
  const Value fill = AsScalar(Term(n, 3));
  const auto known = b.ConstantInts(shape);
  const Value dense = known ? b.Op("full", {fill}, {{"shape", ListOf(*known)}, {"dtype", dtype}})
                            : b.Op("dyn.full", {fill, shape}, {{"dtype", dtype}});
  if (values.rank() == 0) {
    values = Term(b, b.Op("where", {Equal(Column(indices, 0), Column(indices, 0)), values,
                                    values.Number(0)}));
  }
  b.SetSpan(n.InputSpan(0, "sparse_indices"));
  return {
      b.Op("scatter_nd", {dense, indices, values}, {{"mode", "update"}, {"tuples_last", true}})};
}

// Rows of b, each times an element of a, are added up by that element's row.
Outputs SparseDenseMatMul(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term indices = Wide(n, 0), values(n, 1), shape = Wide(n, 2);
  Term right(n, 3);
  const bool flip = n.Bool("adjoint_a", false);
  if (n.Bool("adjoint_b", false)) right = right.Transpose({1, 0});
  const Term rows = ElementOf(shape, flip ? 1 : 0);
  const Value at = Column(indices, flip ? 0 : 1);
  InputName of(n, 0, "a_indices");
  of.value = at;
  const Term taken = right.Take(Below(of, at, b.DimOf(right, 0)), 0) * values.Expand(1);
  b.SetSpan(n.InputSpan(0, "a_indices"));
  return {Segmented(taken, Column(indices, flip ? 1 : 0), rows, SegmentKind::kSum)};
}

Outputs SparseDenseAdd(NodeContext& n) {
  n.b().SetSpan(n.InputSpan(0, "a_indices"));
  return {n.b().Op("scatter_nd", {n.Input(3), Wide(n, 0), n.Input(1)},
                   {{"mode", "add"}, {"tuples_last", true}})};
}

Outputs SparseFillEmptyRows(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> out =
      b.Ops("sparse_fill_empty_rows", {Wide(n, 0), n.Input(1), Wide(n, 2), AsScalar(Term(n, 3))});
  if (out.size() < 3 || !n.WantsOutput(3)) return out;
  // Each element moves by as many rows as were empty before its own.
  const Term empty = Term(b, out[2]).As(DType::kInt64).Call("cumsum", {{"axis", 0}});
  const Term row = Column(Wide(n, 0), 0);
  out.push_back(RangeOf(b, row, 0) + empty.Take(row, 0));
  return out;
}

Outputs SparseReshape(NodeContext& n) {
  return n.b().Ops("sparse_reshape", {Wide(n, 0), Wide(n, 1), Wide(n, 2)});
}

// Places in row-major order.
Term Flat(const Term& indices, const Term& shape, int64_t rank) {
  Term flat = Column(indices, 0);
  for (int64_t i = 1; i < rank; ++i) flat = flat * ElementOf(shape, i) + Column(indices, i);
  return flat;
}
Outputs Ordered(NodeContext& n, const Term& indices, const Term& values, const Term& shape) {
  const auto rank = CountOf(n, shape, "shape");
  if (!rank || *rank == 0) return {indices, values};
  const Term order = Flat(indices, shape, *rank).Call("argsort", {{"axis", 0}, {"dtype", "int64"}});
  return {indices.Take(order, 0), values.Take(order, 0)};
}
Outputs SparseReorder(NodeContext& n) { return Ordered(n, Wide(n, 0), Term(n, 1), Wide(n, 2)); }

Outputs SparseSlice(NodeContext& n) {
  const Term indices = Wide(n, 0), values(n, 1), shape = Wide(n, 2), from = Wide(n, 3),
             size = Minimum(Wide(n, 4), shape - from);
  const Term moved = indices - from;
  const Term kept = And(moved >= 0, moved < size).Over("all", {1}, false);
  const Term places = kept.Call("argwhere").As(DType::kInt64).Reshape({-1});
  return {moved.Take(places, 0), values.Take(places, 0), Maximum(size, size.Number(0))};
}

Outputs SparseConcat(NodeContext& n) {
  TypedBuilder& b = n.b();
  const size_t count = n.num_inputs() / 3;
  const auto rank = count > 0 ? CountOf(n, n.Input(2 * count), "shapes") : std::nullopt;
  if (!rank) return {};
  const int axis = n.Axis(n.Int("concat_dim", 0), static_cast<int>(*rank));
  std::vector<int64_t> unit(static_cast<size_t>(*rank), 0);
  if (!Ok(n)) return {};
  unit[static_cast<size_t>(axis)] = 1;
  const Term along(b, b.Ints(unit));
  std::vector<Value> indices, values;
  Term shift = along * 0.0;
  for (size_t i = 0; i < count; ++i) {
    indices.push_back(Wide(n, i) + shift);
    values.push_back(n.Input(count + i));
    shift = shift + Wide(n, 2 * count + i) * along;
  }
  const Term shape = Wide(n, 2 * count) * (1.0 - along) + shift;
  Outputs out = Ordered(n, {b, b.Concat(indices, 0)}, {b, b.Concat(values, 0)}, shape);
  out.push_back(shape);
  return out;
}

// The elements of a dense tensor of the same shape at the sparse one's places.
template <OpName kName>
Outputs DenseElementwise(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term indices = Wide(n, 0);
  Value dense = n.Input(3);
  const auto rank = CountOf(n, n.Input(2), "sp_shape");
  if (!rank) return {};
  const Outputs full = n.As("BroadcastTo", {dense, Wide(n, 2)});
  if (full.empty()) return {};
  const Value there = b.Op("gather_nd", {full[0], indices.Transpose({1, 0})});
  return {b.Op(kName.chars, {n.Input(1), there})};
}

// Sums and extremes over axes of what a sparse tensor holds.
template <SegmentKind kKind>
Outputs SparseReduce(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term indices = Wide(n, 0), shape = Wide(n, 2);
  const auto rank = CountOf(n, shape, "input_shape");
  const auto axes = n.ConstantInts(3, "reduction_axes");
  if (!rank || !axes) return {};
  const std::vector<int64_t> gone =
      axes->empty() ? Iota(*rank) : n.Axes(*axes, static_cast<int>(*rank));
  const bool keep = n.Bool("keep_dims", false);
  Term flat = Column(indices, 0) * 0.0, total(b, b.Int(1));
  std::vector<Value> dims;
  for (int64_t i = 0; i < *rank; ++i) {
    if (std::find(gone.begin(), gone.end(), i) != gone.end()) {
      if (keep) dims.push_back(b.Ints({1}));
      continue;
    }
    const Term extent = ElementOf(shape, i);
    flat = flat * extent + Column(indices, i);
    total = total * extent;
    dims.push_back(AsVector(extent));
  }
  return {ShapedAs(b, Segmented(Term(n, 1), flat, total, kKind), dims)};
}

constexpr OperatorDef kSparseOperators[] = {
    {"SparseConcat", 3, -1, SparseConcat, "output_indices output_values output_shape"},
    {"SparseDenseCwiseAdd", 4, 4, DenseElementwise<"add">},
    {"SparseDenseCwiseDiv", 4, 4, DenseElementwise<"divide">},
    {"SparseDenseCwiseMul", 4, 4, DenseElementwise<"multiply">},
    {"SparseFillEmptyRows", 4, 4, SparseFillEmptyRows,
     "output_indices output_values empty_row_indicator reverse_index_map", "211"},
    {"SparseReduceMax", 4, 4, SparseReduce<SegmentKind::kMax>},
    {"SparseReduceSum", 4, 4, SparseReduce<SegmentKind::kSum>},
    {"SparseReorder", 3, 3, SparseReorder, "output_indices output_values", "211"},
    {"SparseReshape", 3, 3, SparseReshape, "output_indices output_shape", "211"},
    {"SparseSlice", 5, 5, SparseSlice, "output_indices output_values output_shape", "21111"},
    {"SparseTensorDenseAdd", 4, 4, SparseDenseAdd, {}, "211"},
    {"SparseTensorDenseMatMul", 4, 4, SparseDenseMatMul, {}, "2112"},
    {"SparseToDense", 4, 4, SparseToDense},
};

}  // namespace

std::span<const OperatorDef> SparseOperators() { return kSparseOperators; }

}  // namespace relayvm::import::tensorflow
