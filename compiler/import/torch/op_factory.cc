// Tensors out of numbers, casts and copies.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

// dtype= of a factory; float32 where it is None.
DType DtypeOr(const Call& n, DType fallback) { return n.Dtype().value_or(fallback); }

Value FilledBy(const Call& n, const Value& fill, const Value& sizes) {
  TypedBuilder& b = n.b();
  const std::string dtype(DTypeName(fill.dtype()));
  if (const auto known = b.ConstantInts(sizes))
    return b.Op("full", {fill}, {{"shape", ListOf(*known)}, {"dtype", dtype}});
  return b.Op("dyn.full", {fill, sizes}, {{"dtype", dtype}});
}
Value FactorySizes(const Call& n) {
  return n.schema().Find("size") >= 0 ? n.Sizes("size") : n.b().ShapeOf(n.Input(0));
}
// The dtype of the tensor that a factory is called on.
DType OwnOr(const Call& n) {
  const bool of_tensor = n.schema().Find("self") >= 0;
  return DtypeOr(n, of_tensor ? n.Input(0).dtype() : DType::kFloat32);
}

template <int kValue>
Results Constant(Call& n) {
  const DType t = OwnOr(n);
  return {FilledBy(n, n.b().Scalar(kValue, t), FactorySizes(n))};
}
Results Full(Call& n) {
  // Without a dtype it is that of the number.
  const bool of_tensor = n.schema().Find("self") >= 0;
  const DType own = of_tensor ? n.Input(0).dtype() : DTypeOfNumber(n.Arg("fill_value"));
  return {FilledBy(n, n.Number("fill_value", DtypeOr(n, own)), FactorySizes(n))};
}
Results Fill(Call& n) {
  const Value x = n.Input(0);
  return {FilledBy(n, n.Number("value", x.dtype()), n.b().ShapeOf(x))};
}
Results Zero(Call& n) {
  const Value x = n.Input(0);
  return {FilledBy(n, n.b().Scalar(0, x.dtype()), n.b().ShapeOf(x))};
}
Results ScalarTensor(Call& n) {
  const char* name = n.schema().arguments[0].name == "s" ? "s" : "t";
  const Argument& a = n.Arg(name);
  if (a.is_tensor()) return {n.b().Cast(a.value, DtypeOr(n, a.value.dtype()))};
  const bool own = n.name() != "aten::scalar_tensor";
  return {n.Number(name, DtypeOr(n, own ? DTypeOfNumber(a) : DType::kFloat32))};
}

// --- Lists of numbers as tensors ---

void Flat(const Argument& a, std::vector<int64_t>* shape, size_t depth,
          std::vector<Argument>* out) {
  if (!a.is_list()) {
    out->push_back(a);
    return;
  }
  if (shape->size() <= depth) shape->push_back(static_cast<int64_t>(a.items.size()));
  for (const Argument& item : a.items) Flat(item, shape, depth + 1, out);
}
Results OfList(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<int64_t> shape;
  std::vector<Argument> items;
  Flat(n.Arg("data"), &shape, 0, &items);
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  if (count != static_cast<int64_t>(items.size())) return n.Fail("the lists differ in length");
  std::optional<DType> widest;
  bool known = true;
  for (const Argument& item : items) {
    const DType t = item.is_tensor() ? item.value.dtype() : DTypeOfNumber(item);
    if (!widest || IsFloat(t) || (*widest == DType::kBool && t != DType::kBool)) widest = t;
    known = known && item.is_known_number();
  }
  const DType t = DtypeOr(n, widest.value_or(DType::kFloat32));
  if (items.empty()) return {b.Full(shape, 0, t)};
  if (known && !IsFloat(t)) {
    std::vector<int64_t> ints;
    for (const Argument& item : items)
      ints.push_back(item.is(Argument::Kind::kFloat) ? static_cast<int64_t>(item.real)
                                                     : item.integer);
    return {b.Reshape(b.Cast(b.Ints(ints), t), shape)};
  }
  if (known) {
    std::vector<double> numbers;
    for (const Argument& item : items) numbers.push_back(item.number());
    return {Table(b, numbers, shape, t == DType::kFloat64 ? t : DType::kFloat32).As(t)};
  }
  std::vector<Value> parts;
  for (const Argument& item : items) {
    const Value v =
        item.is_tensor() ? b.Cast(b.Reshape(item.value, {}), t) : ScalarValue(b, item, t);
    parts.push_back(b.Reshape(v, {1}));
  }
  return {b.Reshape(b.Concat(parts, 0), shape)};
}

// --- Ranges ---

Results Arange(Call& n) {
  TypedBuilder& b = n.b();
  const Argument zero = Argument::Int(0), one = Argument::Int(1);
  const Argument& start = n.Has("start") ? n.Arg("start") : zero;
  const Argument& step = n.Has("step") ? n.Arg("step") : one;
  const Argument& end = n.Arg("end");
  const bool inclusive = n.name() == "aten::range";
  const auto is_whole = [](const Argument& a) {
    return a.is_tensor() ? !IsFloat(a.value.dtype()) : !a.is_float();
  };
  const bool whole = is_whole(start) && is_whole(step) && is_whole(end) && !inclusive;
  const DType t = DtypeOr(n, whole ? DType::kInt64 : DType::kFloat32);
  if (step.is_known_number() && step.number() == 0) return n.Fail("step: 0");
  // Integers are counted as such, floats in float64.
  const DType wide = whole ? DType::kInt64 : DType::kFloat64;
  const auto number = [&](const Argument& a) {
    return a.is_tensor() ? b.Cast(b.Reshape(a.value, {}), wide) : ScalarValue(b, a, wide);
  };
  if (whole) {
    const Value y =
        b.Op("arange", {number(start), number(end), number(step)}, {{"dtype", "int64"}});
    return {b.Cast(y, t)};
  }
  const Term from(b, number(start)), to(b, number(end)), by(b, number(step));
  const Term steps = (to - from) / by;
  const Term turns = inclusive ? Floor(steps) + 1.0 : steps.Call("ceil");
  const Term count = Maximum(turns, from.Number(0)).As(DType::kInt64);
  // Integers begin at one, and go by one.
  if (!IsFloat(t)) return {(Range(count) * by.As(DType::kInt64) + from.As(DType::kInt64)).As(t)};
  return {(Range(count).As(DType::kFloat64) * by + from).As(t)};
}

Results Linspace(Call& n) {
  TypedBuilder& b = n.b();
  const DType t = DtypeOr(n, DType::kFloat32);
  const int64_t steps = n.Has("steps") ? n.Int("steps") : 100;
  if (steps < 0) return n.Fail("steps: {}, expected 0 or more", steps);
  // Ends of integers are integers.
  const auto end = [&](const char* name) {
    const Term given(b, n.Number(name, DType::kFloat64));
    return IsFloat(t) ? given : given.Call("trunc");
  };
  const Term from = end("start"), to = end("end");
  const Term at(b, b.Cast(PlacesOf(b, steps), DType::kFloat64));
  const double last = static_cast<double>(std::max<int64_t>(steps - 1, 1));
  // From both ends, so that both are exact.
  const Term by = (to - from) / last;
  Term y = Select(at < std::floor(static_cast<double>(steps) / 2), from + at * by,
                  to - (last - at) * by);
  if (steps == 1) y = from + at;
  if (n.name() == "aten::logspace") y = y.Number(n.Float("base", 10)).Call("power", y);
  return {y.As(t)};
}

Results Eye(Call& n) {
  TypedBuilder& b = n.b();
  const Term rows(b, n.SymInt("n"));
  const Term columns = n.schema().Find("m") >= 0 && n.Has("m") ? Term(b, n.SymInt("m")) : rows;
  const Term hit = Equal(Range(rows).Expand(1), Range(columns).Expand(0));
  return {hit.As(DtypeOr(n, DType::kFloat32))};
}

// Places of a triangle: rows, then columns.
template <bool kLower>
Results TriangleIndices(Call& n) {
  const int64_t rows = n.Int("row"), columns = n.Int("col"), offset = n.Int("offset");
  constexpr int64_t kMost = 1 << 12;
  if (rows < 0 || columns < 0 || rows > kMost || columns > kMost)
    return n.Unsupported("{} rows of {}; at most {} are supported", rows, columns, kMost);
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      if (kLower ? k - i > offset : k - i < offset) continue;
      first.push_back(i);
      second.push_back(k);
    }
  }
  const auto count = static_cast<int64_t>(first.size());
  if (count == 0) return {n.b().Full({2, 0}, 0, DtypeOr(n, DType::kInt64))};
  first.insert(first.end(), second.begin(), second.end());
  const Value y = n.b().Reshape(n.b().Ints(first), {2, count});
  return {n.b().Cast(y, DtypeOr(n, DType::kInt64))};
}

template <bool kUpper>
Results Triangle(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected a tensor of rank 2 or more");
  const Term offset = Along(RangeOf(b, x, -1), 1, 2) - Along(RangeOf(b, x, -2), 0, 2);
  const Term k(b, n.SymInt("diagonal"));
  return {Select(kUpper ? offset >= k : offset <= k, x, x.Number(0))};
}

Results Diag(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  const Term x = n.name() == "aten::diagflat" ? given.Reshape({-1}) : given;
  const int64_t offset = n.Int(n.schema().arguments[1].name);
  const bool embeds = n.name() != "aten::diag";
  if (x.rank() == 2 && !embeds) return n.As("aten::diagonal", {x, Argument::Int(offset)});
  if (x.rank() == 0 || (!embeds && x.rank() != 1)) return n.Fail("expected rank 1 or 2");
  // The last dim as the diagonal of two.
  const int rank = x.rank();
  const auto by = static_cast<double>(offset);
  const Term extent = Extent(b, x, -1) + std::abs(by);
  const Term at = Range(extent), row = at.Expand(1), column = at.Expand(0);
  const Term place =
      Minimum(Maximum(offset >= 0 ? at : at + by, at.Number(0)), Extent(b, x, -1) - 1.0);
  const Term values = x.Take(place, rank - 1).Expand(rank);
  Term y = Select(Equal(column - row, by), values, x.Number(0));
  if (n.name() == "aten::diag_embed") {
    const int first = n.Axis("dim1", rank + 1, -2), second = n.Axis("dim2", rank + 1, -1);
    if (!b.status().ok()) return {};
    std::vector<int64_t> axes(static_cast<size_t>(rank) + 1, -1);
    axes[static_cast<size_t>(first)] = rank - 1;
    axes[static_cast<size_t>(second)] = rank;
    int64_t next = 0;
    for (int64_t& axis : axes) {
      if (axis < 0) axis = next++;
    }
    y = y.Transpose(axes);
  }
  return {y};
}

// All tuples of elements, one of each vector; the powers of a vector's.
Results CartesianProduct(Call& n) {
  TypedBuilder& b = n.b();
  const std::vector<Value> all = n.Tensors("tensors");
  if (all.size() == 1) return {all[0]};
  std::vector<Value> columns;
  const Results grids = n.As("aten::meshgrid", {Argument::Tensors(all)});
  if (grids.empty()) return {};
  for (const Argument& grid : grids[0].items) columns.push_back(b.Reshape(grid.value, {-1, 1}));
  if (columns.empty()) return n.Fail("expected tensors");
  return {b.Concat(columns, 1)};
}
Results Vandermonde(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Term given(b, n.Has("N") ? n.SymInt("N") : Extent(b, x, 0).value());
  const Term at = Range(given);
  const Term power = n.Bool("increasing") ? at : given - 1.0 - at;
  const bool whole = !IsFloat(x.dtype());
  const DType t = whole ? DType::kFloat64 : x.dtype();
  const Term y = x.As(t).Expand(1).Call("power", power.As(t));
  return {whole ? y.As(DType::kInt64) : y};
}

Results MeshGrid(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> all = n.Tensors("tensors");
  const bool swap = n.String("indexing", "ij") == "xy" && all.size() > 1;
  if (swap) std::swap(all[0], all[1]);
  std::vector<Value> dims, out;
  for (Value& v : all) {
    v = AtLeastVector(b, v);
    dims.push_back(b.DimOf(v, 0));
  }
  if (all.empty()) return {Argument::List({})};
  const Value shape = b.Concat(dims, 0);
  const auto rank = static_cast<int>(all.size());
  for (int i = 0; i < rank; ++i) {
    out.push_back(BroadcastTo(b, Along(Term(b, all[static_cast<size_t>(i)]), i, rank), shape));
  }
  if (swap) std::swap(out[0], out[1]);
  return {Argument::Tensors(out)};
}

// --- Casts and copies ---

Argument CastTo(const Call& n, std::optional<DType> dtype) {
  const Argument& a = n.Arg(size_t{0});
  if (!dtype) return a;
  if (a.quantised != nullptr) return a;
  Argument out = n.b().Cast(a.value, *dtype);
  const bool whole = !IsFloat(*dtype) && *dtype != DType::kBool && IsFloat(a.value.dtype());
  if (whole && a.value.rank() > 0 && a.value.constant == nullptr) {
    // What no integer of the processor's conversion holds, NaN too, is its least one; smaller
    // integers are the end of its bits.
    const bool wide = *dtype == DType::kInt64;
    const double end = wide ? 0x1p63 : 0x1p31;
    const Term x = Term(n, a.value).As(SumType(a.value.dtype()));
    const Term held = Select(x < end, x, x.Number(-end)).As(wide ? *dtype : DType::kInt32);
    out = held.As(*dtype);
  }
  out.complex = a.complex;
  return out;
}
Results To(Call& n) {
  if (n.Has("other")) return {CastTo(n, n.Tensor("other").dtype())};
  if (n.Has("dtype") && IsTorchComplex(n.Int("dtype"))) {
    const Argument& a = n.Arg(size_t{0});
    const DType t = n.Int("dtype") == 10 ? DType::kFloat64 : DType::kFloat32;
    if (a.complex) {
      Argument y = a;
      y.value = n.b().Cast(a.value, t);
      return {y};
    }
    const Term x(n, n.b().Cast(a.value, t));
    return n.As("aten::complex", {x, x.Call("zeros_like")});
  }
  return {CastTo(n, n.Dtype())};
}
template <DType kDType>
Results CastAs(Call& n) {
  return {CastTo(n, kDType)};
}
Results Clone(Call& n) { return {n.Arg(size_t{0})}; }
// Elements of another tensor.
Results Copy(Call& n) {
  const Value to = n.Input(0), from = n.b().Cast(n.Input(1), to.dtype());
  if (from.shape() == to.shape()) return {from};
  return {BroadcastTo(n, from, n.b().ShapeOf(to))};
}

constexpr OperatorDef kFactoryOperators[] = {
    {"aten::zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     Constant<0>},
    {"aten::new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor",
     Constant<1>},
    {"aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     Constant<1>},
    {"aten::new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<1>},
    {"aten::empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     Constant<0>},
    {"aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     Constant<0>},
    {"aten::new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::new_empty_strided(Tensor self, int[] size, int[] stride, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Constant<0>},
    {"aten::full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Full},
    {"aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) "
     "-> Tensor",
     Full},
    {"aten::new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Full},
    {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", Fill},
    {"aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", Fill},
    {"aten::zero(Tensor self) -> Tensor", Zero},
    {"aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     ScalarTensor},
    {"aten::tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool "
     "requires_grad=False) -> Tensor",
     ScalarTensor},
    {"aten::tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool "
     "requires_grad=False) -> Tensor",
     ScalarTensor},
    {"aten::tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool "
     "requires_grad=False) -> Tensor",
     ScalarTensor},
    {"aten::as_tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     ScalarTensor},
    {"aten::as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     ScalarTensor},
    {"aten::as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     ScalarTensor},
    {"aten::tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool "
     "requires_grad=False) -> Tensor",
     OfList},
    {"aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     OfList},
    {"aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     Arange},
    {"aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Arange},
    {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Arange},
    {"aten::range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     Arange},
    {"aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Arange},
    {"aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Linspace},
    {"aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     Linspace},
    {"aten::eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     Eye},
    {"aten::eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     Eye},
    {"aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     TriangleIndices<true>},
    {"aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     TriangleIndices<false>},
    {"aten::tril(Tensor self, int diagonal=0) -> Tensor", Triangle<false>},
    {"aten::triu(Tensor self, int diagonal=0) -> Tensor", Triangle<true>},
    {"aten::diag(Tensor self, int diagonal=0) -> Tensor", Diag},
    {"aten::diagflat(Tensor self, int offset=0) -> Tensor", Diag},
    {"aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", Diag},
    {"aten::cartesian_prod(Tensor[] tensors) -> Tensor", CartesianProduct},
    {"aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", Vandermonde},
    {"aten::meshgrid(Tensor[] tensors) -> Tensor[]", MeshGrid},
    {"aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", MeshGrid},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     To, Takes::kAll},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     To, Takes::kAll},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     To, Takes::kAll},
    {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     To, Takes::kAll},
    {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool "
     "non_blocking=False, bool copy=False) -> Tensor(b|a)",
     To, Takes::kAll},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool "
     "copy=False) -> Tensor(b|a)",
     To, Takes::kAll},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     To, Takes::kAll},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
     "memory_format=None) -> Tensor",
     To, Takes::kAll},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", To, Takes::kAll},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", Clone, Takes::kAll},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", Clone, Takes::kAll},
    {"aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", Copy},
    {"aten::detach_copy(Tensor self) -> Tensor", Clone, Takes::kAll},
    {"aten::alias_copy(Tensor self) -> Tensor", Clone, Takes::kAll},
};

}  // namespace

OperatorTable FactoryOperators() { return kFactoryOperators; }

}  // namespace relayvm::import::torch
