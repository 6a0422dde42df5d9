// Elements by index.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

// Files hold indices as floats too.
Term IndicesOf(Node& n, size_t i) { return Term(n, i).As(DType::kInt64); }

// Within 0..extent-1: the nearest one, counted round, or else an error.
Term Within(Node& n, size_t input, const Term& indices, const Value& x, int axis,
            const std::string& mode) {
  TypedBuilder& b = n.b();
  if (mode == "raise") {
    return {b, FromFront(InputName(b, indices, n.InputText(input, "indices")), indices,
                         b.DimOf(x, axis))};
  }
  const Term extent = Extent(b, x, axis);
  if (mode == "wrap") return indices.Call("floor_mod", Maximum(extent, extent.Number(1)));
  return Maximum(Minimum(indices, extent - 1), indices.Number(0));
}

// --- Take and its kin ---

Outputs Take(Node& n) {
  const Term x(n, 0);
  const std::string mode = n.Choice("mode", "clip", {"clip", "wrap", "raise"});
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!n.b().status().ok()) return {};
  return {x.Take(Within(n, 1, IndicesOf(n, 1), x, axis, mode), axis)};
}
Outputs Embedding(Node& n) {
  if (!n.ExpectRank(n.Input(1), 2, "weight")) return {};
  const Term w(n, 1);
  return {w.Take(Within(n, 0, IndicesOf(n, 0), w, 0, "clip"), 0)};
}
// One element along an axis for each place of the others; `flat`: of all.
Outputs PickAlong(Node& n, int64_t given, bool flat, bool keep, const std::string& mode) {
  TypedBuilder& b = n.b();
  Term x(n, 0), at = IndicesOf(n, 1);
  if (flat) {
    x = x.Reshape({-1});
    const Term element = x.Take(Within(n, 1, at, x, 0, mode), 0);
    return {AtLeastVector(element)};
  }
  const int axis = n.Axis(given, x.rank());
  if (!b.status().ok()) return {};
  if (at.rank() == x.rank() - 1) at = at.Expand(axis);
  if (at.rank() != x.rank()) return n.Fail("expected an index for each place of the other axes");
  const Term y = x.Call("gather", Within(n, 1, at, x, axis, mode), {{"axis", axis}});
  if (keep) return {y};
  return {AtLeastVector(Term(b, b.Squeeze(y, {axis})))};
}
Outputs Pick(Node& n) {
  return PickAlong(n, n.Int("axis", -1), n.IsNone("axis"), n.Bool("keepdims", false),
                   n.Choice("mode", "clip", {"clip", "wrap"}));
}
Outputs BatchTake(Node& n) { return PickAlong(n, -1, false, false, "clip"); }

// A row for each axis, each of which counts from the end where negative. `rows`: how many there are
// where the input's extent is open; -1: nothing tells.
Term TupleIndices(Node& n, const Value& x, size_t input, int rows = -1) {
  TypedBuilder& b = n.b();
  // Of floats below 0 the next number down.
  const Term given(n, input);
  Term at = (IsFloat(given.dtype()) ? Floor(given) : given).As(DType::kInt64);
  Dim count = at.rank() > 0 ? at.value().dim(0) : Dim(0);
  if (!count.is_const() && rows >= 0 && rows <= x.rank()) {
    count = Dim(rows);
    at = at.Slice(0, 0, rows);
  }
  if (!count.is_const() || count.value() > x.rank()) {
    n.Unsupported("indices: the number of axes they name must be known, and at most {}", x.rank());
    return at;
  }
  std::vector<Value> extents;
  for (int i = 0; i < count.value(); ++i) extents.push_back(b.DimOf(x, i));
  if (extents.empty()) return at;
  const Term extent(b, b.Concat(extents, 0));
  return at.Call("floor_mod", Along(Maximum(extent, extent.Number(1)), 0, at.rank()));
}
Outputs GatherNd(Node& n) {
  const Value x = n.Input(0);
  const Term at = TupleIndices(n, x, 1);
  if (!n.b().status().ok()) return {};
  return {n.b().Op("gather_nd", {x, at})};
}
// What several rows of indices name holds one of them; `add`: their sum.
Outputs Scattered(Node& n, const Term& into, size_t data, size_t indices) {
  // Of the data's axes some stand for the indices', the others are the result's last ones.
  const int rows = into.rank() + n.Input(indices).rank() - 1 - n.Input(data).rank();
  const Term at = TupleIndices(n, into, indices, rows);
  if (!n.b().status().ok()) return {};
  return {n.b().Op("scatter_nd", {into, at, Term(n, data).As(into.dtype())}, {{"mode", "update"}})};
}
Outputs ScatterNd(Node& n) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Input(0).dtype();
  const Value zeros = b.Op("full", {b.Scalar(0, dtype)},
                           {{"shape", ListOf(n.Ints("shape"))}, {"dtype", TypeName(dtype)}});
  return Scattered(n, {b, zeros}, 0, 1);
}
Outputs ScatterSetNd(Node& n) { return Scattered(n, Term(n, 0), 1, 2); }
// Rows of the first at indices become rows of the third.
Outputs IndexCopy(Node& n) {
  const Term x(n, 0), rows(n, 2);
  return {n.b().Op("scatter_nd", {x, IndicesOf(n, 1).Reshape({1, -1}), rows.As(x.dtype())},
                   {{"mode", "update"}})};
}

Outputs OneHot(Node& n) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Type("dtype", DType::kFloat32);
  return {b.Op("one_hot",
               {IndicesOf(n, 0), b.Scalar(n.Float("on_value", 1), dtype),
                b.Scalar(n.Float("off_value", 0), dtype)},
               {{"depth", n.Count("depth", 1)}, {"axis", -1}, {"dtype", TypeName(dtype)}})};
}

// --- Flat indices ---

Outputs RavelMultiIndex(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> shape = n.Counts("shape");
  const auto rank = static_cast<int64_t>(shape.size());
  if (x.rank() < 1 || Dim::ProvablyDifferent(x.value().dim(0), Dim(rank)) || rank == 0)
    return n.Fail("expected a row of indices for each of {} axes", rank);
  std::optional<Term> flat;
  for (int64_t i = 0; i < rank; ++i) {
    const Term row = IndicesOf(n, 0).Slice(0, i, i + 1).Call("squeeze", {{"axis", AttrList{0}}});
    flat = flat ? *flat * static_cast<double>(shape[static_cast<size_t>(i)]) + row : row;
  }
  return {flat->As(x.dtype())};
}
Outputs UnravelIndex(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const std::vector<int64_t> shape = n.Counts("shape");
  if (shape.empty()) return n.Fail("attribute shape: expected one extent or more");
  Term rest = IndicesOf(n, 0);
  std::vector<Value> rows(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const Term extent = rest.Number(static_cast<double>(std::max<int64_t>(shape[i], 1)));
    rows[i] = b.ExpandDims((i == 0 ? rest : rest.Call("floor_mod", extent)).As(x.dtype()), 0);
    rest = rest.Call("floor_divide", extent);
  }
  return {b.Concat(rows, 0)};
}
// The index of each element along each axis: (dims.., axes).
Outputs IndexArray(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x.rank());
  if (!n.HasAttr("axes")) axes = Iota(x.rank());
  if (!b.status().ok() || axes.empty()) return {};
  std::vector<Value> parts;
  for (const int64_t axis : axes) {
    const Term at = RangeOf(b, x, static_cast<int>(axis));
    const Value all =
        BroadcastTo(b, Along(at, static_cast<int>(axis), x.rank()), DimsOf(b, x, 0, x.rank()));
    parts.push_back(b.ExpandDims(all, x.rank()));
  }
  return {b.Concat(parts, x.rank())};
}

// --- By conditions ---

// A condition of one dim selects rows.
Outputs Where(Node& n) {
  Term condition = IsTrue(Term(n, 0));
  const Term x(n, 1), y(n, 2);
  if (condition.rank() == 1 && x.rank() > 1) condition = Along(condition, 0, x.rank());
  return {Select(condition, x, y.As(x.dtype()))};
}
DType Common(const Term& x, const Term& y) {
  if (x.dtype() == y.dtype() || (IsFloat(x.dtype()) && !IsFloat(y.dtype()))) return x.dtype();
  if (IsFloat(y.dtype()) && !IsFloat(x.dtype())) return y.dtype();
  return DTypeBytes(x.dtype()) >= DTypeBytes(y.dtype()) && x.dtype() != DType::kBool ? x.dtype()
                                                                                     : y.dtype();
}
Outputs NumpyWhere(Node& n) {
  const Term x(n, 1), y(n, 2);
  const DType dtype = Common(x, y);
  return {Select(IsTrue(Term(n, 0)), x.As(dtype), y.As(dtype))};
}
Term ScalarLike(const Term& x, double value) {
  return x.dtype() == DType::kBool ? IsTrue(Term(x.b(), x.b().Scalar(value, DType::kFloat32)))
                                   : x.Number(IsFloat(x.dtype()) ? value : std::trunc(value));
}
// The number takes the place of what is not chosen, or of what is.
Outputs WhereRight(Node& n) {
  const Term x(n, 1);
  return {Select(IsTrue(Term(n, 0)), x, ScalarLike(x, n.Float("scalar", 0)))};
}
Outputs WhereLeft(Node& n) {
  const Term y(n, 1);
  return {Select(IsTrue(Term(n, 0)), ScalarLike(y, n.Float("scalar", 0)), y)};
}
Outputs WhereScalars(Node& n) {
  TypedBuilder& b = n.b();
  const Term condition = IsTrue(Term(n, 0));
  return {Select(condition, Term(b, b.Scalar(n.Float("x", 0), DType::kFloat32)),
                 Term(b, b.Scalar(n.Float("y", 0), DType::kFloat32)))};
}

// Places of what is not 0, a row each.
Term PlacesOfTrue(const Term& x) { return IsTrue(x).Call("argwhere").As(DType::kInt64); }

Outputs BooleanMask(Node& n) {
  const Term x(n, 0), mask(n, 1);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!n.b().status().ok()) return {};
  if (mask.rank() > 1 && axis == 0 && mask.rank() <= x.rank()) {
    // Of the first axes together.
    TypedBuilder& b = n.b();
    std::vector<Value> dims = DimsOf(b, x, mask.rank(), x.rank());
    dims.insert(dims.begin(), b.Ints({-1}));
    const Term at = PlacesOfTrue(mask.Reshape({-1})).Reshape({-1});
    return {Term(b, ShapedAs(b, x, dims)).Take(at, 0)};
  }
  if (!n.ExpectRank(mask, 1, "index")) return {};
  return {x.Take(PlacesOfTrue(mask).Reshape({-1}), axis)};
}
// The mask with a dim for each axis of the data.
Term MaskFor(Node& n, const Term& x) {
  const Term mask = IsTrue(Term(n, 1));
  const auto first = static_cast<int>(n.Counts("start_axis", {0})[0]);
  const int after = x.rank() - first - mask.rank();
  if (first < 0 || after < 0) return n.Fail("the mask has more dims than the data"), mask;
  return mask.Expand(0, first).Expand(first + mask.rank(), after);
}
Outputs MaskAssignScalar(Node& n) {
  const Term x(n, 0);
  return {Select(MaskFor(n, x), ScalarLike(x, n.Float("value", 0)), x)};
}
// One value for each element that is chosen, or one that broadcasts.
Outputs MaskAssign(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Term values = Term(n, 2).As(x.dtype());
  const Term mask = MaskFor(n, x);
  if (!b.status().ok()) return {};
  const int dims = Term(n, 1).rank();
  if (values.rank() == 0 || values.value().dim(0).is_const(1) ||
      values.rank() != x.rank() - dims + 1)
    return {Select(mask, values, x)};
  if (n.Counts("start_axis", {0})[0] != 0) return n.Unsupported("start_axis with values");
  const Term flat = IsTrue(Term(n, 1)).Reshape({-1}).As(DType::kInt64);
  const Term which = Maximum(flat.Call("cumsum", {{"axis", 0}}) - 1, flat.Number(0));
  std::vector<Value> shape = {b.ShapeOf(x)};
  const Term chosen(b, ShapedAs(b, values.Take(which, 0), shape));
  return {Select(mask, chosen, x)};
}

// --- Slices that are set ---

Outputs SliceSet(Node& n, const Value& given) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto begin = n.IntsOrNone("begin"), end = n.IntsOrNone("end"), step = n.IntsOrNone("step");
  const auto rank = static_cast<size_t>(x.rank());
  if (begin.size() != end.size() || begin.size() > rank)
    return n.Fail("expected begin and end of at most {} numbers", rank);
  // Whether an index is one of the slice's, and the how-manieth.
  std::optional<Term> inside;
  std::vector<Value> places(rank);
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int>(i);
    const Term extent = Extent(b, x, axis), at = Range(extent);
    const int64_t s = i < step.size() ? step[i].value_or(1) : 1;
    if (s < 1) return n.Unsupported("attribute step: {}", s);
    const auto bound = [&](const std::optional<int64_t>& v, const Term& fallback) {
      if (!v) return fallback;
      const Term number(b, b.Int(*v));
      return *v < 0 ? Maximum(number + extent, extent.Number(0)) : Minimum(number, extent);
    };
    const Term from = bound(i < begin.size() ? begin[i] : std::nullopt, extent.Number(0)),
               to = bound(i < end.size() ? end[i] : std::nullopt, extent);
    const Term offset = at - from, stride = offset.Number(static_cast<double>(s));
    const Term here = And(And(offset >= 0, at < to), Equal(offset.Call("floor_mod", stride), 0));
    const Term wide = Along(here, axis, x.rank());
    inside = inside ? And(*inside, wide) : wide;
    places[i] = Maximum(offset, offset.Number(0)).Call("floor_divide", stride);
  }
  if (!inside) return {b.Cast(given, x.dtype())};
  Term values(b, b.Cast(given, x.dtype()));
  for (int i = 0; i < values.rank(); ++i) {
    const int axis = x.rank() - values.rank() + i;
    if (values.value().dim(i).is_const(1) || axis < 0) continue;
    const Term last = Extent(b, values, i) - 1;
    values = values.Take(Minimum(Term(b, places[static_cast<size_t>(axis)]), last), i);
  }
  return {Select(*inside, values, x)};
}
Outputs SliceAssign(Node& n) { return SliceSet(n, n.Input(1)); }
Outputs SliceAssignScalar(Node& n) {
  return SliceSet(n, n.b().Scalar(n.Float("scalar", 0), DType::kFloat64));
}
// Of each row the element that the index names becomes another.
Outputs FillElement(Node& n) {
  const Term x(n, 0), values(n, 1);
  const Term column = RangeOf(n, x, 1).Expand(0), at = IndicesOf(n, 2).Expand(1);
  return {Select(Equal(column, at), values.As(x.dtype()).Expand(1), x)};
}

Outputs NonZero(Node& n) { return {PlacesOfTrue(Term(n, 0))}; }

constexpr OperatorDef kIndexOperators[] = {
    {"Embedding _npx_embedding _contrib_SparseEmbedding", 2, 2, Embedding},
    {"_contrib_boolean_mask _npi_boolean_mask", 2, 2, BooleanMask},
    {"_contrib_index_array", 1, 1, IndexArray},
    {"_contrib_index_copy", 3, 3, IndexCopy},
    {"_npi_boolean_mask_assign_scalar", 2, 2, MaskAssignScalar},
    {"_npi_boolean_mask_assign_tensor", 3, 3, MaskAssign},
    {"_npi_where", 3, 3, NumpyWhere},
    {"_npi_where_lscalar", 2, 2, WhereLeft},
    {"_npi_where_rscalar", 2, 2, WhereRight},
    {"_npi_where_scalar2", 1, 1, WhereScalars},
    {"_npx_nonzero _npi_nonzero", 1, 1, NonZero},
    {"_ravel_multi_index ravel_multi_index", 1, 1, RavelMultiIndex},
    {"_scatter_set_nd _npi_scatter_set_nd", 3, 3, ScatterSetNd},
    {"_slice_assign _crop_assign _npi_slice_assign", 2, 2, SliceAssign},
    {"_slice_assign_scalar _crop_assign_scalar _npi_slice_assign_scalar", 1, 1, SliceAssignScalar},
    {"_unravel_index unravel_index", 1, 1, UnravelIndex},
    {"batch_take choose_element_0index", 2, 2, BatchTake},
    {"fill_element_0index", 3, 3, FillElement},
    {"gather_nd _npi_gather_nd _npx_gather_nd", 2, 2, GatherNd},
    {"one_hot _npx_one_hot", 1, 1, OneHot},
    {"pick _npx_pick", 2, 2, Pick},
    {"scatter_nd", 2, 2, ScatterNd},
    {"take _npi_take", 2, 2, Take},
    {"where", 3, 3, Where},
};

}  // namespace

std::span<const OperatorDef> IndexOperators() { return kIndexOperators; }

}  // namespace relayvm::import::mxnet
