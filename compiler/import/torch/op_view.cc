// Views: shapes, axes, parts of tensors. Lists of parts: op_parts.cc.
#include <fmt/format.h>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

// A tensor of the same kind (complex numbers have one dim more, which stays the last; integers
// stand for the same numbers, but where channels have scales of their own).
int RankOf(const Argument& a) { return a.value.rank() - (a.complex ? 1 : 0); }
Argument LikeFirst(const Call& n, const Value& v) {
  Argument out = v;
  out.complex = n.Arg(size_t{0}).complex;
  const auto& quantised = n.Arg(size_t{0}).quantised;
  if (quantised != nullptr && quantised->axis < 0) out.quantised = quantised;
  return out;
}

// --- Shapes ---

Value WithComplex(const Call& n, const Value& sizes) {
  return n.Arg(size_t{0}).complex ? n.b().Concat({sizes, n.b().Ints({2})}, 0) : sizes;
}
Results ReshapeTo(const Call& n, const Value& sizes) {
  TypedBuilder& b = n.b();
  const Value x = n.Arg(size_t{0}).value;
  return {LikeFirst(n, ShapedAs(b, x, {WithComplex(n, sizes)}))};
}
Results View(Call& n) { return ReshapeTo(n, n.Sizes(n.schema().arguments[1].name)); }
Results ViewAs(Call& n) { return {ShapedLike(n, n.Input(0), n.Input(1))}; }
// The same bits as another dtype of the same width.
Results ViewDtype(Call& n) {
  const Value x = n.Input(0);
  const DType dtype = n.Dtype().value_or(x.dtype());
  if (dtype == x.dtype()) return {x};
  if (DTypeBytes(dtype) != DTypeBytes(x.dtype()))
    return n.Unsupported("a view as a dtype of another width");
  return {n.b().Op("reinterpret", {x}, {{"dtype", std::string(DTypeName(dtype))}})};
}

Results Flatten(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const int rank = RankOf(a);
  if (rank == 0) return {LikeFirst(n, b.ExpandDims(a.value, 0))};
  const int from = n.Axis("start_dim", rank, 0), to = n.Axis("end_dim", rank, -1);
  if (from > to) return n.Fail("start_dim is behind end_dim");
  if (from == to) return {a};
  std::vector<Value> dims = DimsOf(b, a.value);
  const Value merged = ProductOfDims(b, a.value, from, to + 1);
  dims.erase(dims.begin() + from, dims.begin() + to + 1);
  dims.insert(dims.begin() + from, merged);
  return {LikeFirst(n, ShapedAs(b, a.value, dims))};
}
Results Ravel(Call& n) { return {n.b().Reshape(n.Input(0), {-1})}; }

Results Unflatten(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  std::vector<Value> dims = DimsOf(b, x);
  std::vector<Value> sizes;
  std::optional<size_t> open;
  Value rest;
  for (const Value& size : n.SymInts("sizes")) {
    const auto known = b.ConstantInts(size);
    if (known && (*known)[0] == -1) open = sizes.size();
    sizes.push_back(b.Reshape(size, {1}));
    if (!open || *open + 1 != sizes.size())
      rest = rest ? b.Op("multiply", {rest, sizes.back()}) : sizes.back();
  }
  if (open) {
    const Value whole = dims[static_cast<size_t>(axis)];
    sizes[*open] = rest ? b.Op("floor_divide", {whole, rest}) : whole;
  }
  if (sizes.empty() || dims.empty()) return n.Fail("expected sizes");
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, sizes.begin(), sizes.end());
  return {ShapedAs(b, x, dims)};
}

Results Unsqueeze(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  const int axis = n.Axis("dim", RankOf(a) + 1);
  return {LikeFirst(n, n.b().ExpandDims(a.value, axis))};
}

// Dims of 1 are dropped.
Results Squeeze(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const int rank = RankOf(a);
  const bool all = n.schema().Find("dim") < 0;
  std::vector<int64_t> gone;
  Value x = a.value;
  for (const int64_t axis : all ? Iota(rank) : n.Axes("dim", rank, true)) {
    const Dim extent = x.dim(static_cast<int>(axis));
    // A program that names an axis means that its extent is 1, where the file does not say more.
    const bool open = !extent.is_const() && !all && !n.expected().rank;
    if (open) x = Stating(b, x, static_cast<int>(axis), 1, "what squeeze takes");
    if (open || extent.is_const(1)) gone.push_back(axis);
    // Which axes go must be known: one that stays is not 1 when it runs.
    if (all && !extent.is_const() && !n.expected().rank) {
      const Term stays = Term(b, b.Reshape(b.DimOf(x, static_cast<int>(axis)), {})) > 1;
      x = InRange(b, Or(stays, Term(b, b.Reshape(b.DimOf(x, static_cast<int>(axis)), {})) < 1), x);
    }
  }
  return {LikeFirst(n, gone.empty() ? x : b.Squeeze(x, gone))};
}

// --- Axes ---

Results Permuted(const Call& n, std::vector<int64_t> axes) {
  const Argument& a = n.Arg(size_t{0});
  if (a.complex) axes.push_back(RankOf(a));
  return {LikeFirst(n, n.b().Transpose(a.value, axes))};
}
Results Permute(Call& n) {
  const int rank = RankOf(n.Arg(size_t{0}));
  std::vector<int64_t> axes;
  for (const int64_t axis : n.Ints("dims")) axes.push_back(AxisIn(n, axis, rank));
  if (static_cast<int>(axes.size()) != rank)
    return n.Fail("{} dims for a tensor of rank {}", axes.size(), rank);
  return Permuted(n, axes);
}
Results Swapped(const Call& n, int64_t first, int64_t second) {
  const int rank = RankOf(n.Arg(size_t{0}));
  if (rank == 0) return {n.Arg(size_t{0})};
  std::vector<int64_t> axes = Iota(rank);
  std::swap(axes[static_cast<size_t>(AxisIn(n, first, rank))],
            axes[static_cast<size_t>(AxisIn(n, second, rank))]);
  return Permuted(n, axes);
}
Results Transpose(Call& n) {
  const auto& arguments = n.schema().arguments;
  return Swapped(n, n.Int(arguments[1].name), n.Int(arguments[2].name));
}
Results T(Call& n) {
  const int rank = RankOf(n.Arg(size_t{0}));
  if (rank > 2) return n.Fail("expected a tensor of at most 2 dims");
  return rank < 2 ? Results{n.Arg(size_t{0})} : Swapped(n, 0, 1);
}
Results MatrixTranspose(Call& n) { return Swapped(n, -2, -1); }
Results ReverseAxes(Call& n) {
  std::vector<int64_t> axes = Iota(RankOf(n.Arg(size_t{0})));
  std::reverse(axes.begin(), axes.end());
  return Permuted(n, axes);
}
Results MoveAxes(Call& n) {
  const int rank = RankOf(n.Arg(size_t{0}));
  const std::vector<int64_t> from = n.Ints("source"), to = n.Ints("destination");
  if (from.size() != to.size()) return n.Fail("source and destination differ in length");
  std::vector<int64_t> axes(static_cast<size_t>(rank), -1);
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int source = AxisIn(n, from[i], rank), target = AxisIn(n, to[i], rank);
    if (rank == 0) continue;
    axes[static_cast<size_t>(target)] = source;
    used[static_cast<size_t>(source)] = true;
  }
  size_t next = 0;
  for (int64_t& axis : axes) {
    if (axis >= 0) continue;
    while (next < used.size() && used[next]) ++next;
    axis = static_cast<int64_t>(next++);
  }
  if (!n.b().status().ok()) return {};
  return Permuted(n, axes);
}

// --- Parts ---

Results Select(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const int axis = n.Axis("dim", RankOf(a));
  if (!b.status().ok()) return {};
  const Value x = a.value;
  const Dim extent = x.dim(axis);
  const auto known = n.KnownInt("index");
  if (known && extent.is_const()) {
    const int64_t size = extent.value(), index = *known < 0 ? *known + size : *known;
    if (index < 0 || index >= size)
      return n.Fail("index {} is out of range for an extent of {}", *known, size);
    return {LikeFirst(n, b.Squeeze(Term(b, x).Slice(axis, index, index + 1), {axis}))};
  }
  const Value at = FromFront({n, static_cast<size_t>(n.schema().Find("index")), "index"},
                             n.SymInt("index"), b.DimOf(x, axis));
  return {LikeFirst(n, b.Op("take", {x, at}, {{"axis", axis}}))};
}

Results Slice(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const int axis = n.Axis("dim", RankOf(a));
  if (!b.status().ok()) return {};
  const int64_t step = n.Int("step", 1);
  if (step < 1) return n.Fail("step: {}, expected 1 or more", step);
  const Value from = n.Has("start") ? n.SymInt("start") : b.Int(0);
  const Value to = n.Has("end") ? n.SymInt("end") : b.Ints({INT64_MAX});
  const Value end = to.rank() == 0 ? to : b.Reshape(to, {});
  const auto first = b.Elements(from), last = b.Elements(end);
  const bool begins = first && (*first)[0].is_const(0);
  if (begins && step == 1 && last) {
    const Dim extent = a.value.dim(axis);
    const auto spare = ((*last)[0] - extent).LowerBound();
    const bool huge = (*last)[0].is_const() && (*last)[0].value() >= (int64_t{1} << 48);
    if (huge || (*last)[0] == extent || (spare && *spare >= 0)) return {a};
  }
  return {LikeFirst(n, Sliced(b, a.value, axis, from, end, step))};
}

Results Narrow(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const int axis = n.Axis("dim", RankOf(a));
  if (!b.status().ok()) return {};
  Term start(b, n.SymInt("start"));
  const auto known = b.ConstantInts(start);
  if (!known || (*known)[0] < 0) {
    const Term extent = Extent(b, a.value, axis);
    const auto low = b.Elements(start);
    if (!low || !(*low)[0].LowerBound() || *(*low)[0].LowerBound() < 0)
      start = relayvm::import::Select(start < 0, start + extent, start);
  }
  return {LikeFirst(n, Sliced(b, a.value, axis, start, start + Term(b, n.SymInt("length"))))};
}

// Windows along an axis, whose elements stand along a new last one.
Results Unfold(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = AtLeastVector(b, n.Input(0));
  const int axis = n.Axis("dimension", x.rank());
  const int64_t size = n.Int("size"), step = n.Int("step", 1);
  if (!b.status().ok()) return {};
  if (step < 1 || size < 0) return n.Fail("expected a positive step and size");
  const Term extent = Extent(b, x, axis);
  const Term count = (extent - static_cast<double>(size))
                         .Call("floor_divide", extent.Number(static_cast<double>(step))) +
                     1.0;
  const Term starts = Range(count) * static_cast<double>(step);
  const Term places = starts.Expand(1) + PlacesOf(b, size);
  const Value taken = b.Op("take", {x, places}, {{"axis", axis}});
  if (!b.status().ok()) return {};
  std::vector<int64_t> axes = Iota(taken.rank());
  axes.erase(axes.begin() + axis + 1);
  axes.push_back(axis + 1);
  return {b.Transpose(taken, axes)};
}

Results Diagonal(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int rank = x.rank();
  const int first = n.Axis("dim1", rank, 0), second = n.Axis("dim2", rank, 1);
  const auto offset = static_cast<double>(n.Int("offset"));
  if (!b.status().ok()) return {};
  if (rank < 2 || first == second) return n.Fail("expected two dims");
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (i != first && i != second) axes.push_back(i);
  }
  axes.push_back(first);
  axes.push_back(second);
  const Value moved = b.Transpose(x, axes);
  const Term rows = Extent(b, moved, rank - 2), columns = Extent(b, moved, rank - 1);
  const Term length =
      offset >= 0 ? Minimum(rows, columns - offset) : Minimum(rows + offset, columns);
  const Term start = offset >= 0 ? rows.Number(offset) : columns * -offset;
  const Term places = Range(Maximum(length, length.Number(0))) * (columns + 1.0) + start;
  std::vector<Value> dims = DimsOf(b, moved);
  dims.resize(static_cast<size_t>(rank) - 2);
  dims.push_back(ProductOfDims(b, moved, rank - 2, rank));
  return {Term(b, ShapedAs(b, moved, dims)).Take(places, rank - 2)};
}

// Strides and offset count elements of the storage, which is the tensor itself.
Results AsStrided(Call& n) {
  TypedBuilder& b = n.b();
  const std::vector<Value> size = n.SymInts("size"), stride = n.SymInts("stride");
  if (size.size() != stride.size()) return n.Fail("size and stride differ in length");
  const int rank = static_cast<int>(size.size());
  Term places(b, n.Has("storage_offset") ? n.SymInt("storage_offset") : b.Int(0));
  for (int i = 0; i < rank && b.status().ok(); ++i) {
    const Value& extent = size[static_cast<size_t>(i)];
    const auto known = b.ConstantInts(extent);
    if (known && (*known)[0] < 0) return n.Fail("size: expected 0 or more in each axis");
    const Term along = known ? PlacesOf(b, (*known)[0]) : Range(Term(b, extent));
    places = places + Along(along * Term(b, stride[static_cast<size_t>(i)]), i, rank);
  }
  const Term flat(b, b.Reshape(n.Input(0), {-1}));
  return {flat.Take(FromFront({n, 0, "places"}, places, b.DimOf(flat, 0)), 0)};
}

// --- Broadcasts ---

Results ExpandTo(const Call& n, const std::vector<Value>& sizes) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  const Value x = a.value;
  const int added = static_cast<int>(sizes.size()) - RankOf(a);
  if (added < 0) return n.Fail("fewer sizes than dims");
  std::vector<Value> dims;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    const Value& size = sizes[static_cast<size_t>(i)];
    const auto known = b.Elements(size);
    const Dim own = i < added ? Dim(1) : x.dim(i - added);
    if (i >= added && known && ((*known)[0].is_const(-1) || (*known)[0] == own)) {
      dims.push_back(b.DimOf(x, i - added));
    } else if (own.is_const(1)) {
      dims.push_back(b.Reshape(size, {1}));
    } else {
      // Whether it is 1 only running tells: as where other operators broadcast.
      std::vector<Value> all;
      for (int k = 0; k < static_cast<int>(sizes.size()); ++k) {
        const Value& s = sizes[static_cast<size_t>(k)];
        const auto asked = b.Elements(s);
        const bool keeps = k >= added && asked && (*asked)[0].is_const(-1);
        all.push_back(keeps ? b.DimOf(x, k - added) : b.Reshape(s, {1}));
      }
      const Value like = Filled(b, 0, x.dtype(), b.Concat(all, 0));
      return {b.Op("where", {b.Full({}, 1, DType::kBool), x, like})};
    }
  }
  if (dims.empty()) return {a};
  if (a.complex) dims.push_back(b.Ints({2}));
  const Value y = BroadcastTo(b, x, b.Concat(dims, 0));
  return {LikeFirst(n, y.shape() == x.shape() ? x : y)};
}
Results Expand(Call& n) { return ExpandTo(n, n.SymInts("size")); }
Results ExpandAs(Call& n) {
  std::vector<Value> sizes;
  for (const Value& d : DimsOf(n, n.Arg(size_t{1}).value)) sizes.push_back(n.b().Reshape(d, {}));
  // Sizes of a complex tensor are those of its numbers.
  if (n.Arg(size_t{1}).complex && !sizes.empty()) sizes.pop_back();
  return ExpandTo(n, sizes);
}

Results BroadcastTensors(Call& n) {
  TypedBuilder& b = n.b();
  const std::vector<Value> all = n.Tensors("tensors");
  if (all.empty()) return {Argument::List({})};
  // The shape of what any operator makes of all of them.
  Value sum;
  for (const Value& v : all) {
    const Value zero = b.Op("zeros_like", {b.Cast(v, DType::kInt32)});
    sum = sum ? b.Op("add", {sum, zero}) : zero;
  }
  std::vector<Value> out;
  for (const Value& v : all)
    out.push_back(v.shape() == sum.shape() ? v : BroadcastTo(b, v, b.ShapeOf(sum)));
  return {Argument::Tensors(out)};
}

template <int kRank>
Results AtLeast(Call& n) {
  TypedBuilder& b = n.b();
  const auto raised = [&](Value v) {
    if (v.rank() == 0) v = b.Reshape(v, {1});
    if (v.rank() == 1 && kRank > 1) v = b.ExpandDims(v, 0);
    if (v.rank() == 2 && kRank > 2) v = b.ExpandDims(v, 2);
    return v;
  };
  if (!n.Arg(size_t{0}).is_list()) return {raised(n.Input(0))};
  std::vector<Value> out;
  for (const Value& v : n.Tensors("tensors")) out.push_back(raised(v));
  return {Argument::Tensors(out)};
}

Results Itself(Call& n) { return {n.Arg(size_t{0})}; }

constexpr OperatorDef kViewOperators[] = {
    {"aten::view(Tensor(a) self, int[] size) -> Tensor(a)", View, Takes::kAll},
    {"aten::reshape(Tensor(a) self, int[] shape) -> Tensor(a)", View, Takes::kAll},
    {"aten::_unsafe_view(Tensor self, int[] size) -> Tensor", View, Takes::kAll},
    {"aten::_reshape_alias(Tensor(a) self, int[] size, int[] stride) -> Tensor(a)", View,
     Takes::kAll},
    {"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", ViewDtype},
    {"aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", ViewAs, Takes::kMoves},
    {"aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", ViewAs, Takes::kMoves},
    {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
     Flatten, Takes::kAll},
    {"aten::ravel(Tensor(a) self) -> Tensor(a)", Ravel, Takes::kMoves},
    {"aten::unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", Unflatten,
     Takes::kMoves},
    {"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", Unsqueeze, Takes::kAll},
    {"aten::squeeze(Tensor(a) self) -> Tensor(a)", Squeeze, Takes::kAll},
    {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", Squeeze, Takes::kAll},
    {"aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", Squeeze, Takes::kAll},
    {"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", Permute, Takes::kAll},
    {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", Transpose,
     Takes::kAll},
    {"aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", Transpose, Takes::kAll},
    {"aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", Transpose, Takes::kAll},
    {"aten::t(Tensor(a) self) -> Tensor(a)", T, Takes::kAll},
    {"aten::numpy_T(Tensor(a) self) -> Tensor(a)", ReverseAxes, Takes::kAll},
    {"aten::numpy_T.a(Tensor(a) self) -> Tensor(a)", ReverseAxes, Takes::kAll},
    {"aten::mT(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::mT.a(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::mH(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::matrix_H(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::mH.a(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::adjoint(Tensor(a) self) -> Tensor(a)", MatrixTranspose, Takes::kMoves},
    {"aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", MoveAxes,
     Takes::kAll},
    {"aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
     MoveAxes, Takes::kAll},
    {"aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", MoveAxes,
     Takes::kAll},
    {"aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
     MoveAxes, Takes::kAll},
    {"aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", Select, Takes::kAll},
    {"aten::slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> "
     "Tensor(a)",
     Slice, Takes::kAll},
    {"aten::narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)", Narrow,
     Takes::kAll},
    {"aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)", Narrow,
     Takes::kAll},
    {"aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", Unfold,
     Takes::kMoves},
    {"aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
     Diagonal},
    {"aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", Diagonal,
     Takes::kMoves},
    {"aten::as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> "
     "Tensor(a)",
     AsStrided, Takes::kMoves},
    {"aten::expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)", Expand,
     Takes::kAll},
    {"aten::broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", Expand, Takes::kAll},
    {"aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", ExpandAs, Takes::kAll},
    {"aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", BroadcastTensors},
    {"aten::atleast_1d(Tensor self) -> Tensor", AtLeast<1>},
    {"aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", AtLeast<1>},
    {"aten::atleast_2d(Tensor self) -> Tensor", AtLeast<2>},
    {"aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", AtLeast<2>},
    {"aten::atleast_3d(Tensor self) -> Tensor", AtLeast<3>},
    {"aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", AtLeast<3>},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", Itself,
     Takes::kAll},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", Itself, Takes::kAll},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", Itself, Takes::kAll},
    {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", Itself, Takes::kAll},
    {"aten::lift(Tensor self) -> Tensor", Itself, Takes::kAll},
};

}  // namespace

OperatorTable ViewOperators() { return kViewOperators; }

}  // namespace relayvm::import::torch
