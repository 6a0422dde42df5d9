// Operators that index by data, and those that find indices: gathers, scatters, sorts, selections.
#include <fmt/format.h>

#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import {

namespace {

// The elements where the condition holds. Without an axis, of the flattened input.
Outputs Compress(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term condition(n, 1);
  if (condition.rank() != 1) return n.Fail("condition: expected rank 1");
  const Term found = condition.Call("argwhere").As(DType::kInt64).Reshape({-1});
  const bool flat = !n.HasAttr("axis");
  const Value x = flat ? b.Reshape(n.Input(0), {-1}) : n.Input(0);
  const int axis = flat ? 0 : n.Axis(n.Int("axis", 0), x.rank());
  if (!b.status().ok()) return {};
  const Dim places = n.Input(1).dim(0);
  const auto spare = (x.dim(axis) - places).LowerBound();
  if (spare && *spare >= 0) return {Term(b, x).Take(found, axis)};
  return {Term(b, x).Take(
      Below({n, 1, "places that are true in condition"}, found, b.DimOf(x, axis)), axis)};
}

Outputs NonZero(NodeContext& n) {
  Term x(n, 0);
  if (x.rank() == 0) x = x.Reshape({1});
  // Exporters write ranges so.
  if (const auto fill = n.b().FilledWith(x); fill && *fill != 0 && x.rank() == 1) {
    return {RangeOf(n.b(), x, 0).Expand(0)};
  }
  return {x.Call("argwhere").As(DType::kInt64).Transpose({1, 0})};
}

Outputs OneHot(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term values(n, 2);
  const int rank = n.Input(0).rank() + 1;
  const int axis = n.Axis(n.Int("axis", -1), rank);
  if (!b.status().ok()) return {};
  if (values.rank() != 1) return n.Fail("values: expected two numbers");
  const Term depth = AtLeast({n, 1, "depth"}, AsScalar(Term(n, 1)).As(DType::kInt64), 1);
  Term indices = Term(n, 0).As(DType::kInt64);
  indices = Select(indices < 0, indices + depth, indices).Expand(axis);
  const Term hit = Equal(indices, Along(Range(depth), axis, rank));
  return {Select(hit, AsScalar(values.Slice(0, 1, 2)), AsScalar(values.Slice(0, 0, 1)))};
}

// --- Gather and scatter by tuples of indices ---

// Indices (.., k), counted from the front. `data` has `batch` dims before those that the tuples
// name. `checks`: whom they are for does not check them.
std::optional<Term> CheckedTuples(NodeContext& n, const Value& data, const Value& indices,
                                  int batch, bool checks) {
  TypedBuilder& b = n.b();
  const int rank = indices.rank();
  if (rank < 1 || !indices.dim(-1).is_const())
    return n.Unsupported("indices: the length of the tuples decides a rank and must be known");
  const int64_t count = indices.dim(-1).value();
  if (count < 1 || count + batch > data.rank()) {
    return n.Fail("indices name {} axes after {} batch dims, data has rank {}", count, batch,
                  data.rank());
  }
  Value tuples = indices;
  const auto known = b.ConstantInts(indices);
  const bool counts_from_end =
      !known || std::any_of(known->begin(), known->end(), [](int64_t i) { return i < 0; });
  std::vector<Value> extents;
  bool sized = true;
  for (int i = 0; i < count; ++i) {
    extents.push_back(b.DimOf(data, batch + i));
    sized &= data.dim(batch + i).is_const();
  }
  // Constants that fit stay such.
  if (checks || (known && (counts_from_end || sized))) {
    tuples = FromFront({n, 1, "indices"}, indices, b.Concat(extents, 0));
  }
  return Term(b, tuples).As(DType::kInt64);
}

// The same as Relay's (k, ..).
std::optional<Term> Tuples(NodeContext& n, const Value& data, const Value& indices, int batch,
                           bool checks) {
  const auto tuples = CheckedTuples(n, data, indices, batch, checks);
  if (!tuples) return std::nullopt;
  const int rank = indices.rank();
  return tuples->Transpose(AxisMoved(rank, rank - 1, 0));
}

Outputs GatherND(NodeContext& n) {
  const int64_t batch = n.Int("batch_dims", 0);
  if (batch < 0 || batch >= n.Input(1).rank()) return n.Fail("batch_dims is out of range");
  const auto tuples = Tuples(n, n.Input(0), n.Input(1), static_cast<int>(batch), true);
  if (!tuples) return {};
  return {n.b().Op("gather_nd", {n.Input(0), *tuples}, {{"batch_dims", batch}})};
}

// How Relay calls a reduction; empty with an error where there is none of the name.
std::string Reduction(NodeContext& n) {
  std::string name = n.String("reduction", "none");
  if (name == "none") return "update";
  if (name == "add" || name == "mul" || name == "min" || name == "max") return name;
  n.Fail("reduction: expected none, add, mul, min or max, found '{}'", name);
  return "";
}

Outputs ScatterND(NodeContext& n) {
  const std::string mode = Reduction(n);
  // Constants become Relay's form, which passes read.
  const bool known = n.b().ConstantInts(n.Input(1)).has_value();
  const auto tuples = known ? Tuples(n, n.Input(0), n.Input(1), 0, false)
                            : CheckedTuples(n, n.Input(0), n.Input(1), 0, false);
  if (!tuples) return {};
  // It says itself which index is out of range.
  n.b().SetSpan(n.InputSpan(1, "indices"));
  return {n.b().Op("scatter_nd", {n.Input(0), *tuples, n.Input(2)},
                   {{"mode", mode}, {"tuples_last", !known}})};
}

Outputs ScatterElements(NodeContext& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank());
  if (!n.b().status().ok()) return {};
  if (n.b().ConstantInts(n.Input(1))) {
    FromFront({n, 1, "indices"}, n.Input(1), n.b().DimOf(n.Input(0), axis));
  }
  n.b().SetSpan(n.InputSpan(1, "indices"));  // it says itself which is out of range
  return {n.b().Op("scatter_elements", n.inputs(), {{"axis", axis}, {"reduction", Reduction(n)}})};
}

// --- Sorting ---

Outputs TopK(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("is_ascend", n.opset() >= 11 && n.Int("largest", 1) == 0);
  attrs.Set("dtype", "int64");
  attrs.Set("ret_type", "both");
  if (n.opset() >= 10 && !n.Has(1)) return n.Fail("expected K");
  const auto k = n.opset() < 10 ? std::vector<int64_t>{n.Int("k", -1)} : b.ConstantInts(n.Input(1));
  if (k && (k->size() != 1 || (*k)[0] < 0)) return n.Fail("K: expected one number, 0 or more");
  if (k && (*k)[0] == 0) {  // Relay's 0 means all
    const Value none = Term(b, x).Slice(axis, 0, 0);
    return {none, b.Cast(none, DType::kInt64)};
  }
  if (k) {
    attrs.Set("k", AttrList{(*k)[0]});
    return b.Fields(b.Op("topk", {x}, attrs));
  }
  attrs.Set("below_one_is_none", true);
  const Term count = AsScalar(Term(n, 1)).As(DType::kInt64);
  if (FollowsFromDims(b, count)) return b.Fields(b.Op("dyn.topk", {x, count}, attrs));
  const Term end(b, b.DimOf(x, axis));
  return b.Fields(b.Op("dyn.topk", {x, Checked({n, 1, "K"}, count, 0, end + 1)}, attrs));
}

Outputs Hardmax(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Value shape = b.ShapeOf(x);
  int axis = n.Axis(n.Int("axis", n.opset() < 13 ? 1 : -1), x.rank());
  if (!b.status().ok()) return {};
  const bool flat = n.opset() < 13 && axis + 1 < x.rank();
  if (flat) {
    x = Term(b,
             ShapedAs(b, x, {ProductOfDims(b, x, 0, axis), ProductOfDims(b, x, axis, x.rank())}));
    axis = 1;
  }
  const Term best = x.Call("argmax", {{"axis", AttrList{axis}}, {"keepdims", true}});
  const Term y = Equal(Along(RangeOf(b, x, axis), axis, x.rank()), best.As(DType::kInt64));
  const Value cast = y.As(x.dtype());
  return {flat ? ShapedAs(b, cast, {shape}) : cast};
}

// --- Unique ---

// The first `number` elements: Relay pads what unique gives.
Value WithoutPadding(TypedBuilder& b, const Value& padded, const Value& number) {
  return b.Op("dyn.strided_slice",
              {padded, b.Ints({0}), b.Cast(number, DType::kInt64), b.Ints({1})});
}

// Without an axis: of the flattened input.
Outputs UniqueElements(NodeContext& n, bool sorted) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).Reshape({-1});
  if (x.dtype() == DType::kString) return UniqueStrings(n, x, sorted);
  const std::vector<Value> all =
      b.Ops("unique", {x}, {{"sorted", sorted}, {"return_counts", true}});
  if (all.size() < 5) return {};
  const auto found = [&](int i) { return WithoutPadding(b, all[static_cast<size_t>(i)], all[3]); };
  return {found(0), b.Cast(found(1), DType::kInt64), b.Cast(all[2], DType::kInt64),
          b.Cast(found(4), DType::kInt64)};
}

// Along an axis: whole slices are compared.
Outputs UniqueSlices(NodeContext& n, int axis, bool sorted) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  Term rows = axis == 0 ? x : x.Transpose(AxisMoved(x.rank(), axis, 0));
  if (x.dtype() == DType::kString) {
    // Slices are compared by their texts' places in order.
    const Term flat = rows.Reshape({-1});
    rows = Term(b, b.ReshapeTo(sorted ? flat.Call("string.rank") : Ids(flat), b.ShapeOf(rows)));
  }
  const std::vector<Value> all = b.Ops("unique_rows", {rows}, {{"sorted", sorted}});
  if (all.size() < 4) return {};
  const auto found = [&](int i) {
    return Term(b, WithoutPadding(b, all[static_cast<size_t>(i)], all[2])).As(DType::kInt64);
  };
  const Term first = found(0);
  return {x.Take(first, axis), first, b.Cast(all[1], DType::kInt64), found(3)};
}

Outputs Unique(NodeContext& n) {
  const bool sorted = n.Int("sorted", 1) != 0;
  if (!n.HasAttr("axis") || n.Input(0).rank() == 1) return UniqueElements(n, sorted);
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank());
  if (!n.b().status().ok()) return {};
  return UniqueSlices(n, axis, sorted);
}

// com.microsoft: values, inverse and counts, in the order of the data.
Outputs MsUnique(NodeContext& n) {
  const Outputs all = UniqueElements(n, false);
  return all.size() < 4 ? all : Outputs{all[0], all[2], all[3]};
}

// --- By position ---

Outputs Trilu(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (n.Input(0).rank() < 2) return n.Fail("expected an input of rank 2 or more");
  const Value k = n.Has(1) ? AsScalar(Term(n, 1)).As(DType::kInt64).value() : b.Int(0);
  const Term x(n, 0);
  const Term offset = Along(RangeOf(b, x, -1), 1, 2) - Along(RangeOf(b, x, -2), 0, 2);
  const Term kept = n.Int("upper", 1) != 0 ? offset >= Term(b, k) : offset <= Term(b, k);
  return {Select(kept, x, x.Number(0))};
}

Outputs EyeLike(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() != 2) return n.Fail("expected an input of rank 2");
  const Term offset = Along(RangeOf(b, x, 1), 1, 2) - Along(RangeOf(b, x, 0), 0, 2);
  return {Equal(offset, static_cast<double>(n.Int("k", 0))).As(n.Type("dtype", x.dtype()))};
}

// Sums or products of the elements up to each.
template <OpName kName>
Outputs Accumulated(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Value shape = b.ShapeOf(x);
  const bool exclusive = n.Int("exclusive", 0) != 0, reverse = n.Int("reverse", 0) != 0;
  int axis = 1;
  const auto known = b.ConstantInts(n.Input(1));
  if (known) {
    if (known->size() != 1) return n.Fail("axis: expected one number");
    axis = n.Axis((*known)[0], x.rank(), n.InputText(1, "axis"));
  } else {
    // The axis is the middle one of three.
    const Term at = AxisFromFront({n, 1, "axis"}, x.rank());
    const Term dims(b, shape), place(b, b.Ints(Iota(x.rank())));
    const auto product = [&](const Term& which) {
      return Select(which, dims, dims.Number(1)).Over("prod", {0});
    };
    x = Term(b,
             ShapedAs(b, x, {product(place < at), product(Equal(place, at)), product(place > at)}));
  }
  if (!b.status().ok()) return {};
  const Term y =
      x.Call(kName.chars, {{"axis", axis}, {"exclusive", exclusive}, {"reversed", reverse}});
  return {known ? y.value() : ShapedAs(b, y, {shape})};
}

Outputs ReverseSequence(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int time = n.Axis(n.Int("time_axis", 0), n.Input(0).rank());
  if (!b.status().ok()) return {};
  const Term lengths =
      Checked({n, 1, "sequence_lens"}, n.Input(1), 0, Term(b, b.DimOf(n.Input(0), time)) + 1);
  return {b.Op("reverse_sequence", {n.Input(0), lengths},
               {{"seq_axis", time}, {"batch_axis", n.Int("batch_axis", 1)}})};
}

Outputs DepthToSpace(NodeContext& n) {
  return {n.b().Op("nn.depth_to_space", {n.Input(0)},
                   {{"block_size", n.Int("blocksize", 0)}, {"mode", n.String("mode", "DCR")}})};
}
Outputs SpaceToDepth(NodeContext& n) {
  return {n.b().Op("nn.space_to_depth", {n.Input(0)}, {{"block_size", n.Int("blocksize", 0)}})};
}

// Each axis is cut, or filled with zeros, around its middle.
Outputs CenterCropPad(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Term sizes = Term(b, NotNegative({n, 1, "shape"})).As(DType::kInt64);
  const std::vector<int64_t> axes =
      n.HasAttr("axes") ? n.Axes(n.Ints("axes"), x.rank()) : Iota(x.rank());
  if (!b.status().ok()) return {};
  if (sizes.rank() != 1 || !sizes.value().dim(0).is_const(static_cast<int64_t>(axes.size())))
    return n.Fail("shape: expected a size for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    const auto axis = static_cast<int>(axes[i]);
    const Term extent = Extent(b, x, axis), size = AsScalar(sizes.Slice(0, k, k + 1));
    const Term place = Range(size) + (extent - size) / 2;
    const Term inside = And(place >= 0, place < extent);
    const Term taken = x.Take(place, axis);
    x = Select(Along(inside, axis, x.rank()), taken, x.Number(0));
  }
  return {x};
}

// A cache (batch, ..) whose places from a batch's own first one on, along an axis, take the
// updates.
Outputs TensorScatter(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term cache(n, 0), update(n, 1);
  const int axis = n.Axis(n.Int("axis", -2), cache.rank());
  const std::string mode = n.String("mode", "linear");
  if (!b.status().ok()) return {};
  if (axis == 0 || update.rank() != cache.rank())
    return n.Fail("expected updates of the cache's rank, and an axis behind that of batches");
  if (mode != "linear" && mode != "circular")
    return n.Unsupported("mode '{}' is not supported", mode);
  const auto front = [&](const Term& v) { return v.Transpose(AxisMoved(v.rank(), axis, 1)); };
  const Term old = front(cache), now = front(update);
  const Term room = Term(b, b.DimOf(old, 1)) -
                    (mode == "linear" ? Term(b, b.DimOf(now, 1)) : Term(b, b.Ints({1})));
  const Term first =
      n.Has(2)
          ? Checked({n, 2, "write_indices"}, n.Input(2), 0, room + 1).As(DType::kInt64).Expand(1)
          : Term(b, b.Int(0)) * RangeOf(b, cache, 0).Expand(1);
  if (!b.status().ok()) return {};
  const Term extent = Extent(b, old, 1), length = Extent(b, now, 1);
  Term behind = Range(extent) - first;  // (batch, places)
  if (mode == "circular") behind = behind.Call("floor_mod", extent);
  const Term inside = And(behind >= 0, behind < length);
  const Term place = Clamp(behind, behind.Number(0), length - 1);
  const Term moved = now.Call("take", place, {{"axis", 1}, {"batch_dims", 1}});
  const Term y = Select(inside.Expand(2, old.rank() - 2), moved, old);
  return {y.Transpose(AxisMoved(y.rank(), 1, axis))};
}

constexpr OperatorDef kIndexOperators[] = {
    {"TensorScatter", 2, 3, TensorScatter, 24},
    {"CenterCropPad", 2, 2, CenterCropPad, 18},
    {"Compress", 2, 2, Compress, 9},
    {"CumProd", 2, 2, Accumulated<"cumprod">, 26},
    {"CumSum", 2, 2, Accumulated<"cumsum">, 11},
    {"DepthToSpace", 1, 1, DepthToSpace},
    {"EyeLike", 1, 1, EyeLike, 9},
    {"GatherND", 2, 2, GatherND, 11},
    {"Hardmax", 1, 1, Hardmax},
    {"NonZero", 1, 1, NonZero, 9},
    {"OneHot", 3, 3, OneHot, 9},
    {"ReverseSequence", 2, 2, ReverseSequence, 10},
    {"Scatter", 3, 3, ScatterElements, 9},
    {"ScatterElements", 3, 3, ScatterElements, 11},
    {"ScatterND", 3, 3, ScatterND, 11},
    {"SpaceToDepth", 1, 1, SpaceToDepth},
    {"TopK", 1, 2, TopK},
    {"Trilu", 1, 2, Trilu, 14},
    {"Unique", 1, 1, Unique, 11},
    {"Unique", 1, 1, MsUnique, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> IndexOperators() { return kIndexOperators; }

}  // namespace relayvm::import
