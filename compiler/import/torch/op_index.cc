// Elements by index: gathers, scatters, masks.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/checked.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

InputName Named(const Call& n, const Value& v, std::string what) {
  return {n.b(), v, std::move(what)};
}

// Indices that count from the end where negative, checked.
Value Checked(const Call& n, const Value& indices, const Value& extent) {
  return FromFront(Named(n, indices, fmt::format("an index of {}", n.name())), indices, extent);
}

// --- x[i, j, ...] ---

// What stands between brackets: indices that broadcast together, for `axes` of x.
struct Indexed {
  std::vector<int64_t> axes;
  std::vector<Term> indices;
  bool adjacent = true;  // the axes are next to each other: the result has them in their place
};

// Masks become the places where they hold.
std::optional<Indexed> IndexedBy(Call& n, const Value& x) {
  TypedBuilder& b = n.b();
  Indexed out;
  int64_t axis = 0;
  for (const Value& index : n.OptionalTensors("indices")) {
    if (!index) {
      ++axis;
      continue;
    }
    if (index.dtype() == DType::kBool || index.dtype() == DType::kUInt8) {
      const Term mask = Truth(Term(b, index));
      if (mask.rank() == 0) {
        n.Unsupported("an index that is one bool");
        return std::nullopt;
      }
      const Term places = mask.Call("argwhere").As(DType::kInt64);
      for (int64_t i = 0; i < mask.rank(); ++i) {
        out.axes.push_back(axis++);
        out.indices.push_back({b, b.Squeeze(places.Slice(1, i, i + 1), {1})});
      }
      continue;
    }
    if (axis >= x.rank()) {
      n.Fail("more indices than dims");
      return std::nullopt;
    }
    out.indices.push_back(
        {b, b.Cast(Checked(n, b.Cast(index, DType::kInt64), b.DimOf(x, static_cast<int>(axis))),
                   DType::kInt64)});
    out.axes.push_back(axis++);
  }
  if (axis > x.rank()) {
    n.Fail("more indices than dims");
    return std::nullopt;
  }
  for (size_t i = 1; i < out.axes.size(); ++i)
    out.adjacent = out.adjacent && out.axes[i] == out.axes[i - 1] + 1;
  return out;
}

// The indices as one tensor (k, ...), after broadcasting.
Value Together(TypedBuilder& b, const std::vector<Term>& indices) {
  Term sum = indices[0] - indices[0];
  for (size_t i = 1; i < indices.size(); ++i) sum = sum + (indices[i] - indices[i]);
  std::vector<Value> parts;
  const Value shape = b.ShapeOf(sum);
  for (const Term& index : indices) {
    const bool fits = index.value().shape() == sum.value().shape();
    parts.push_back(b.ExpandDims(fits ? index.value() : BroadcastTo(b, index, shape), 0));
  }
  return b.Concat(parts, 0);
}

// The indexed axes first, the others in order.
std::vector<int64_t> Front(const Indexed& by, int rank) {
  std::vector<int64_t> axes = by.axes;
  for (int i = 0; i < rank; ++i) {
    if (std::find(by.axes.begin(), by.axes.end(), i) == by.axes.end()) axes.push_back(i);
  }
  return axes;
}

Results Index(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const auto by = IndexedBy(n, x);
  if (!by || !b.status().ok()) return {};
  if (by->indices.empty()) return {x};
  if (by->indices.size() == 1)
    return {Term(b, x).Take(by->indices[0], static_cast<int>(by->axes[0]))};
  const Value moved = b.Transpose(x, Front(*by, x.rank()));
  const Value tuples = Together(b, by->indices);
  const Value y = b.Op("gather_nd", {moved, tuples});
  if (!by->adjacent || by->axes[0] == 0 || !y.is_tensor()) return {y};
  // The dims of the indices go to where the first indexed axis was.
  const auto count = static_cast<int64_t>(tuples.rank() - 1), before = by->axes[0];
  std::vector<int64_t> axes = Iota(before, count);
  for (const int64_t axis : Iota(count)) axes.push_back(axis);
  for (int64_t i = count + before; i < y.rank(); ++i) axes.push_back(i);
  return {b.Transpose(y, axes)};
}

// x[mask] = a number.
std::optional<Value> MaskedPut(Call& n, const Value& x) {
  const std::vector<Value> indices = n.OptionalTensors("indices");
  const Value values = n.Tensor("values");
  if (indices.size() != 1 || !indices[0] || indices[0].dtype() != DType::kBool ||
      values.rank() > 1 || (values.rank() == 1 && !values.dim(0).is_const(1)) ||
      n.Bool("accumulate") || indices[0].rank() > x.rank())
    return std::nullopt;
  const Term mask(n, n.b().ExpandDims(indices[0], indices[0].rank(), x.rank() - indices[0].rank()));
  const Term fill(n, n.b().Cast(n.b().Reshape(values, {}), x.dtype()));
  return Select(mask, fill, Term(n, x));
}

Results IndexPut(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (const auto y = MaskedPut(n, x)) return {*y};
  const auto by = IndexedBy(n, x);
  if (!by || !b.status().ok()) return {};
  Value values = b.Cast(n.Tensor("values"), x.dtype());
  if (by->indices.empty()) return {BroadcastTo(b, values, b.ShapeOf(x))};
  const std::vector<int64_t> front = Front(*by, x.rank());
  const Value moved = b.Transpose(x, front);
  const Value tuples = Together(b, by->indices);
  const auto count = static_cast<int>(by->indices.size());
  const int index_rank = tuples.rank() - 1;
  // Values have the shape of what the same index would give.
  std::vector<Value> dims;
  for (int i = 0; i < index_rank; ++i) dims.push_back(b.DimOf(tuples, i + 1));
  std::vector<Value> rest;
  for (int i = count; i < moved.rank(); ++i) rest.push_back(b.DimOf(moved, i));
  const bool inside = by->adjacent && by->axes[0] > 0;
  const auto before = inside ? by->axes[0] : 0;
  std::vector<Value> shape(rest.begin(), rest.begin() + before);
  shape.insert(shape.end(), dims.begin(), dims.end());
  shape.insert(shape.end(), rest.begin() + before, rest.end());
  while (values.rank() > static_cast<int>(shape.size()) && values.dim(0).is_const(1))
    values = b.Squeeze(values, {0});
  values = shape.empty() ? b.Reshape(values, {}) : BroadcastTo(b, values, b.Concat(shape, 0));
  if (inside) {
    std::vector<int64_t> axes = Iota(index_rank, before);
    for (const int64_t axis : Iota(before)) axes.push_back(axis);
    for (int64_t i = index_rank + before; i < values.rank(); ++i) axes.push_back(i);
    values = b.Transpose(values, axes);
  }
  const bool add = n.Bool("accumulate");
  const bool is_bool = x.dtype() == DType::kBool;
  const auto plain = [&](const Value& v) { return is_bool ? b.Cast(v, DType::kInt8) : v; };
  Value y =
      b.Op("scatter_nd", {plain(moved), tuples, plain(values)}, {{"mode", add ? "add" : "update"}});
  y = b.Cast(y, x.dtype());
  std::vector<int64_t> back(front.size());
  for (size_t i = 0; i < front.size(); ++i)
    back[static_cast<size_t>(front[i])] = static_cast<int64_t>(i);
  return {b.Transpose(y, back)};
}

// --- Along one axis ---

Results IndexSelect(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = AtLeastVector(b, n.Input(0));
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const Value at = Checked(n, AtLeastVector(b, n.Tensor("index")), b.DimOf(x, axis));
  const Value y = b.Op("take", {x, at}, {{"axis", axis}});
  return {n.Input(0).rank() == 0 ? b.Reshape(y, {}) : y};
}
Results Take(Call& n) {
  TypedBuilder& b = n.b();
  const Value flat = b.Reshape(n.Input(0), {-1});
  return {b.Op("take", {flat, Checked(n, n.Tensor("index"), b.DimOf(flat, 0))}, {{"axis", 0}})};
}
Results GatherAlong(Call& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0), index = n.Tensor("index");
  if (x.rank() == 0) return {index.rank() == 0 ? x : b.Reshape(x, {1})};
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  if (index.rank() != x.rank()) return n.Fail("index: expected rank {}", x.rank());
  const Value at = Checked(n, index, b.DimOf(x, axis));
  // Axes where the index is shorter than the data: only so much of it is read.
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis && !(x.dim(i) == index.dim(i)))
      x = Sliced(b, x, i, b.Int(0), b.Reshape(b.DimOf(index, i), {}));
  }
  return {b.Op("gather", {x, at}, {{"axis", axis}})};
}
Results TakeAlong(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& index = n.Arg("indices");
  if (!n.Has("dim")) {
    const Value flat = b.Reshape(n.Input(0), {-1});
    return n.As("aten::gather", {flat, Argument::Int(0), b.Reshape(index.value, {-1})});
  }
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  // Both broadcast but along the axis.
  std::vector<Value> of_x, of_index;
  for (int i = 0; i < x.rank(); ++i) {
    const bool one = x.dim(i).is_const(1);
    const Value wide = one ? b.DimOf(index.value, i) : b.DimOf(x, i);
    of_x.push_back(i == axis ? b.DimOf(x, i) : wide);
    of_index.push_back(i == axis ? b.DimOf(index.value, i) : wide);
  }
  return n.As("aten::gather", {BroadcastTo(b, x, b.Concat(of_x, 0)), Argument::Int(axis),
                               BroadcastTo(b, index.value, b.Concat(of_index, 0))});
}

// scatter, scatter_add, scatter_reduce: elements of `src` to where `index` says along an axis.
Results Scattered(const Call& n, const Value& given, Value src, std::string reduction,
                  bool include_self) {
  TypedBuilder& b = n.b();
  Value x = given, index = n.Tensor("index");
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const bool flat = x.rank() == 0;
  x = AtLeastVector(b, x);
  index = AtLeastVector(b, index);
  for (const Dim& d : index.shape()) {
    if (d.is_const(0)) return {given};
  }
  if (n.name() == "aten::index_reduce" && src.rank() == x.rank())  // whole slices
    index = BroadcastTo(b, Along(Term(b, index), axis, x.rank()), b.ShapeOf(src));
  if (src.rank() == 0 && index.rank() > 0) src = BroadcastTo(b, src, b.ShapeOf(index));
  if (index.rank() != x.rank()) {
    // One of another rank has no elements.
    if (std::ranges::all_of(index.shape(), [](const Dim& d) { return d.is_const(); }))
      return n.Fail("index: expected rank {}", x.rank());
    const Term count(b, b.Reshape(CountOfElements(b, index), {}));
    return {InRange(b, Equal(count, 0.0), given)};
  }
  // Of the source only as much as the index has is read.
  for (int i = 0; i < src.rank() && i < index.rank(); ++i) {
    if (!(src.dim(i) == index.dim(i)))
      src = Sliced(b, src, i, b.Int(0), b.Reshape(b.DimOf(index, i), {}));
  }
  const Value at = b.Cast(Checked(n, index, b.DimOf(x, axis)), DType::kInt64);
  const auto scatter = [&](const Value& to, const Value& what, const char* how) {
    return b.Op("scatter_elements", {to, at, what}, {{"axis", axis}, {"reduction", how}});
  };
  const bool is_bool = x.dtype() == DType::kBool;
  if (is_bool) {
    x = b.Cast(x, DType::kInt8);
    src = b.Cast(src, DType::kInt8);
  }
  Value y;
  const bool extreme = reduction == "max" || reduction == "min";
  if (reduction == "mean") {
    const Value one = b.Op("ones_like", {src});
    const Value sums = scatter(b.Op("zeros_like", {x}), src, "add");
    const Value hits = scatter(b.Op("zeros_like", {x}), one, "add");
    Term count(b, hits), sum(b, sums);
    if (include_self) {
      count = count + 1.0;
      sum = sum + Term(b, x);
    }
    const Term by = Select(Equal(count, 0.0), count.Number(1), count);
    const Term mean = IsFloat(x.dtype()) ? sum / by : sum.Call("floor_divide", by);
    y = include_self ? mean : Select(Equal(Term(b, hits), 0.0), Term(b, x), mean);
  } else if (reduction == "update" || include_self) {
    y = scatter(x, src, reduction.c_str());
  } else {
    // What is hit begins from nothing, or from an element of the source.
    const Value none = b.Scalar(reduction == "mul" ? 1 : 0, x.dtype());
    const Value start = extreme ? src : BroadcastTo(b, none, b.ShapeOf(src));
    y = scatter(scatter(x, start, "update"), src, reduction.c_str());
  }
  // NaN of any is the result of extremes.
  if (IsFloat(x.dtype()) && extreme) {
    const Term nan = Term(b, x).Call("isnan").As(DType::kInt32), own = include_self ? nan : nan * 0;
    const Term bad(b, scatter(own, Term(b, src).Call("isnan").As(DType::kInt32), "max"));
    y = Select(bad > 0, Term(b, y).Number(NAN), Term(b, y));
  }
  y = b.Cast(y, given.dtype());
  return {flat ? b.Reshape(y, {}) : y};
}
std::string ReductionOf(const Call& n) {
  const std::string name = n.String("reduce");
  if (name.empty()) return "update";
  if (name == "sum" || name == "add") return "add";
  if (name == "prod" || name == "multiply") return "mul";
  if (name == "amax") return "max";
  if (name == "amin") return "min";
  if (name == "mean") return "mean";
  n.Fail("reduce '{}' is not known", name);
  return "update";
}
Value SourceOf(const Call& n, DType dtype) {
  if (n.Has("src")) return n.b().Cast(n.Tensor("src"), dtype);
  return n.Number("value", dtype);
}
Results Scatter(Call& n) {
  const Value x = n.Input(0);
  return Scattered(n, x, SourceOf(n, x.dtype()), ReductionOf(n), true);
}
Results ScatterAdd(Call& n) {
  const Value x = n.Input(0);
  return Scattered(n, x, SourceOf(n, x.dtype()), "add", true);
}
Results ScatterReduce(Call& n) {
  const Value x = n.Input(0);
  return Scattered(n, x, SourceOf(n, x.dtype()), ReductionOf(n), n.Bool("include_self", true));
}

// index_add, index_copy, index_fill, index_reduce: whole slices to where a vector says.
Results Slices(Call& n, const Value& source, const std::string& mode) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const Value data = AtLeastVector(b, x);
  const Value index = AtLeastVector(b, n.Tensor("index"));
  const int rank = data.rank();
  const Value at = b.Cast(Checked(n, index, b.DimOf(data, axis)), DType::kInt64);
  const auto front = AxisMoved(rank, axis, 0), back = AxisMoved(rank, 0, axis);
  Value values = source;
  if (values.rank() == 0) {
    std::vector<Value> dims = DimsOf(b, data);
    dims[static_cast<size_t>(axis)] = b.DimOf(index, 0);
    values = BroadcastTo(b, values, b.Concat(dims, 0));
  }
  const bool is_bool = x.dtype() == DType::kBool;
  const auto plain = [&](const Value& v) {
    return b.Transpose(is_bool ? b.Cast(v, DType::kInt8) : v, front);
  };
  const Value y =
      b.Op("scatter_nd", {plain(data), b.ExpandDims(at, 0), plain(values)}, {{"mode", mode}});
  const Value out = b.Cast(b.Transpose(y, back), x.dtype());
  return {x.rank() == 0 ? b.Reshape(out, {}) : out};
}
Results IndexAdd(Call& n) {
  Term source(n, n.b().Cast(n.Tensor("source"), n.Input(0).dtype()));
  const Argument& alpha = n.Arg("alpha");
  if (!alpha.is_known_number() || alpha.number() != 1)
    source = source * Term(n, n.Number("alpha", source.dtype()));
  return Slices(n, source, "add");
}
Results IndexCopy(Call& n) {
  return Slices(n, n.b().Cast(n.Tensor("source"), n.Input(0).dtype()), "update");
}
Results IndexReduce(Call& n) {
  const Value x = n.Input(0);
  return Scattered(n, x, n.b().Cast(n.Tensor("source"), x.dtype()), ReductionOf(n),
                   n.Bool("include_self", true));
}
Results IndexFill(Call& n) { return Slices(n, n.Number("value", n.Input(0).dtype()), "update"); }

// --- Parts of a tensor by another's ---

Results SelectScatter(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const Value src = b.ExpandDims(b.Cast(n.Tensor("src"), x.dtype()), axis);
  const Term at(b, Checked(n, n.SymInt("index"), b.DimOf(x, axis)));
  const Term hit = Equal(RangeOf(b, x, axis), AsScalar(at).As(DType::kInt64));
  return {Select(Along(hit, axis, x.rank()), Term(b, src), Term(b, x))};
}

Results SliceScatter(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  const int64_t step = n.Int("step", 1);
  if (!b.status().ok()) return {};
  if (step < 1) return n.Fail("step: {}, expected 1 or more", step);
  const Value src = b.Cast(n.Tensor("src"), x.dtype());
  const Term extent = Extent(b, x, axis);
  const auto bounded = [&](const char* name, const Term& none) {
    if (!n.Has(name)) return none;
    const Term v(b, n.SymInt(name));
    const Term front = Select(v < 0, v + extent, v);
    return Clamp(front, front.Number(0), extent);
  };
  const Term start = bounded("start", extent.Number(0));
  const Term end = Maximum(bounded("end", extent), start);
  const auto first = b.Elements(start), last = b.Elements(end);
  if (first && last && step == 1) {
    if ((*first)[0].is_const(0) && (*last)[0] == x.dim(axis)) return {ShapedLike(b, src, x)};
    // What stands before, the part, what stands behind.
    std::vector<Value> parts;
    if (!(*first)[0].is_const(0)) parts.push_back(Sliced(b, x, axis, b.Int(0), start));
    parts.push_back(src);
    if (!((*last)[0] == x.dim(axis))) parts.push_back(Sliced(b, x, axis, end, extent));
    const Value y = b.Concat(parts, axis);
    return {y.shape() == x.shape() ? y : ShapedAs(b, y, DimsOf(b, x))};
  }
  const auto front = AxisMoved(x.rank(), axis, 0), back = AxisMoved(x.rank(), 0, axis);
  const Term count = Extent(b, src, axis);
  const Term places = Range(count) * static_cast<double>(step) + start;
  const bool is_bool = x.dtype() == DType::kBool;
  const auto plain = [&](const Value& v) {
    return b.Transpose(is_bool ? b.Cast(v, DType::kInt8) : v, front);
  };
  const Value y =
      b.Op("scatter_nd", {plain(x), places.Expand(0), plain(src)}, {{"mode", "update"}});
  return {b.Cast(b.Transpose(y, back), x.dtype())};
}

Results DiagonalScatter(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Term places = Range(AsScalar(Term(b, CountOfElements(b, x))));
  const Value seen = n.ValueAs("aten::diagonal", {ShapedAs(b, places, DimsOf(b, x)),
                                                  n.Arg("offset"), n.Arg("dim1"), n.Arg("dim2")});
  if (!b.status().ok()) return {};
  const Value flat = b.Op("scatter_elements",
                          {b.Reshape(x, {-1}), b.Reshape(seen, {-1}),
                           b.Reshape(b.Cast(n.Tensor("src"), x.dtype()), {-1})},
                          {{"axis", 0}, {"reduction", "update"}});
  return {ShapedAs(b, flat, DimsOf(b, x))};
}

// --- Masks ---

Results MaskedFill(Call& n) {
  const Term x(n, 0), mask = Truth(Term(n, n.Tensor("mask")));
  return {Select(mask, Term(n, n.Number("value", x.dtype())), x)};
}
// Both broadcast; as one vector.
Results MaskedSelect(Call& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0), mask = Truth(Term(n, n.Tensor("mask")));
  if (!(x.value().shape() == mask.value().shape())) {
    const Value shape = b.ShapeOf(x.Call("zeros_like").As(DType::kInt8) + mask.As(DType::kInt8));
    x = Term(b, BroadcastTo(b, x, shape));
    mask = Term(b, BroadcastTo(b, mask, shape));
  }
  const Term found = mask.Reshape({-1}).Call("argwhere").As(DType::kInt64).Reshape({-1});
  return {x.Reshape({-1}).Take(found, 0)};
}
// The next element of the source where the mask holds.
Results MaskedScatter(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Value given = Truth(Term(n, n.Tensor("mask")));
  const Term mask(b,
                  given.shape() == x.value().shape() ? given : BroadcastTo(b, given, b.ShapeOf(x)));
  const Term source(b, b.Reshape(b.Cast(n.Tensor("source"), x.dtype()), {-1}));
  const Term flat = mask.Reshape({-1}).As(DType::kInt64);
  const Term place = Maximum(flat.Call("cumsum", {{"axis", 0}}) - 1.0, flat.Number(0));
  const Term taken(b, ShapedLike(b, source.Take(place, 0), x));
  return {Select(mask, taken, x)};
}
Results Put(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), flat = b.Reshape(x, {-1});
  const Value at = Checked(n, b.Reshape(n.Tensor("index"), {-1}), b.DimOf(flat, 0));
  const Value y =
      b.Op("scatter_elements", {flat, at, b.Reshape(b.Cast(n.Tensor("source"), x.dtype()), {-1})},
           {{"axis", 0}, {"reduction", n.Bool("accumulate") ? "add" : "update"}});
  return {ShapedLike(b, y, x)};
}

Results NonZero(Call& n) {
  Term x = Truth(Term(n, 0));
  if (x.rank() == 0) x = x.Reshape({1});
  const Term found = x.Call("argwhere").As(DType::kInt64);
  return {n.Input(0).rank() == 0 ? found.Slice(1, 0, 0) : found};
}
Results NonZeroByAxis(Call& n) {
  TypedBuilder& b = n.b();
  Term x = Truth(Term(n, 0));
  if (x.rank() == 0) x = x.Reshape({1});
  const Term found = x.Call("argwhere").As(DType::kInt64);
  std::vector<Value> out;
  for (int64_t i = 0; i < x.rank(); ++i) out.push_back(b.Squeeze(found.Slice(1, i, i + 1), {1}));
  return {Argument::Tensors(out)};
}

// Indices that lie beyond count as the nearest: what is read or added there is masked.
Argument Nearest(const Call& n, int64_t least_sizes) {
  Argument indices = n.Arg("indices");
  const Value x = n.Input(0);
  for (size_t i = 0; i < indices.items.size() && n.b().status().ok(); ++i) {
    Argument& index = indices.items[i];
    if (!index.is_tensor()) continue;
    if (static_cast<int>(i) >= x.rank()) {
      n.Fail("{} indices of rank {}", indices.items.size(), x.rank());
      return {};
    }
    const Term extent = Extent(n.b(), x, static_cast<int>(i));
    const Term at = Term(n, index.value).As(DType::kInt64);
    index = Clamp(at, extent * static_cast<double>(least_sizes), extent - 1);
  }
  return indices;
}
Results MaskedIndex(Call& n) {
  const Argument indices = Nearest(n, 0);
  if (!n.b().status().ok()) return {};
  const Value y = n.ValueAs("aten::index.Tensor", {n.Arg("self"), indices});
  const Value outside = n.b().Op("logical_not", {n.Tensor("mask")});
  if (!n.b().status().ok()) return {};
  return {n.ValueAs("aten::masked_fill.Scalar", {y, outside, n.Arg("fill")})};
}
Results MaskedIndexPut(Call& n) {
  const Argument indices = Nearest(n, -1);
  if (!n.b().status().ok()) return {};
  const Value outside = n.b().Op("logical_not", {n.Tensor("mask")});
  if (!n.b().status().ok()) return {};
  const Value kept =
      n.ValueAs("aten::masked_fill.Scalar", {n.Arg("values"), outside, Argument::Int(0)});
  if (!n.b().status().ok()) return {};
  return {n.ValueAs("aten::index_put", {n.Arg("self"), indices, kept, Argument::Bool(true)})};
}

constexpr OperatorDef kIndexOperators[] = {
    {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", Index},
    {"aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", Index},
    {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", Index},
    {"aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> "
     "Tensor",
     MaskedIndex},
    {"aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
     "Tensor values) -> Tensor",
     MaskedIndexPut},
    {"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
     "accumulate=False) "
     "-> Tensor",
     IndexPut},
    {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor",
     IndexPut},
    {"aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool "
     "accumulate=False) -> Tensor",
     IndexPut},
    {"aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, "
     "bool unsafe=False) -> Tensor",
     IndexPut},
    {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", IndexSelect,
     Takes::kMoves},
    {"aten::take(Tensor self, Tensor index) -> Tensor", Take},
    {"aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
     GatherAlong},
    {"aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", TakeAlong},
    {"aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> "
     "Tensor",
     Scatter},
    {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", Scatter},
    {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", Scatter},
    {"aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) "
     "-> Tensor",
     Scatter},
    {"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", ScatterAdd},
    {"aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
     "include_self=True) -> Tensor",
     ScatterReduce},
    {"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> "
     "Tensor",
     IndexAdd},
    {"aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", IndexCopy},
    {"aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
     "include_self=True) -> Tensor",
     IndexReduce},
    {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
     IndexFill},
    {"aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
     IndexFill},
    {"aten::select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", SelectScatter},
    {"aten::slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int "
     "step=1) -> Tensor",
     SliceScatter},
    {"aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
     "Tensor",
     DiagonalScatter},
    {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", MaskedFill},
    {"aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", MaskedFill},
    {"aten::masked_select(Tensor self, Tensor mask) -> Tensor", MaskedSelect},
    {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", MaskedScatter},
    {"aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", Put},
    {"aten::nonzero(Tensor self) -> Tensor", NonZero},
    {"aten::argwhere(Tensor self) -> Tensor", NonZero},
    {"aten::nonzero_numpy(Tensor self) -> Tensor[]", NonZeroByAxis},
    {"aten::where(Tensor condition) -> Tensor[]", NonZeroByAxis},
};

}  // namespace

OperatorTable IndexOperators() { return kIndexOperators; }

}  // namespace relayvm::import::torch
