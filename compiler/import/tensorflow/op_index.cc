// Operators that index by data, and those that find indices: gathers, scatters, sorts, counts.
#include <fmt/format.h>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/tensorflow/segments.h"

namespace relayvm::import::tensorflow {

// All of `axes` but the first so many, which become one.
Term Flattened(const Term& v, int first) {
  TypedBuilder& b = v.b();
  if (first == 1) return v;
  std::vector<Value> dims = DimsOf(b, v, first, v.rank());
  dims.insert(dims.begin(), ProductOfDims(b, v, 0, first));
  return To(v, dims);
}

namespace {

// --- Gather ---

Outputs GatherAlong(NodeContext& n, int64_t axis, int64_t batch) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), indices = n.Input(1);
  if (batch < 0) batch += indices.rank();
  const int at = n.Axis(axis, x.rank(), n.Has(2) ? n.InputText(2, "axis") : "");
  if (!Ok(n)) return {};
  if (batch < 0 || batch > at || batch > indices.rank())
    return n.Fail("batch_dims: expected 0 to {}, found {}", at, batch);
  const Value places = Below({n, 1, "indices"}, indices, b.DimOf(x, at));
  if (batch == 0) return {b.Op("take", {x, places}, {{"axis", at}})};
  return {b.Op("take", {x, places}, {{"axis", at}, {"batch_dims", batch}})};
}
Outputs Gather(NodeContext& n) { return GatherAlong(n, 0, n.Int("batch_dims", 0)); }
Outputs GatherV2(NodeContext& n) {
  const auto axis = n.ConstantInt(2, "axis");
  return axis ? GatherAlong(n, *axis, n.Int("batch_dims", 0)) : Outputs{};
}

// How many axes of data of that rank the tuples of input `i` name.
std::optional<int64_t> TupleSize(NodeContext& n, size_t i, int rank) {
  const Value indices = n.Input(i);
  if (indices.rank() < 1 || !indices.dim(-1).is_const())
    return n.Unsupported("{}: the length of the tuples must be known", n.InputText(i, "indices"));
  const int64_t size = indices.dim(-1).value();
  if (size > rank)
    return n.Fail("{} names {} axes, of rank {}", n.InputText(i, "indices"), size, rank);
  return size;
}

Outputs GatherNd(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), indices = n.Input(1);
  const auto size = TupleSize(n, 1, x.rank());
  if (!size) return {};
  if (n.Int("batch_dims", 0) != 0) return n.Unsupported("batch_dims");
  if (*size == 0) {
    std::vector<Value> dims = DimsOf(b, indices, 0, indices.rank() - 1);
    const std::vector<Value> rest = DimsOf(b, x, 0, x.rank());
    dims.insert(dims.end(), rest.begin(), rest.end());
    return n.As("BroadcastTo", {x, dims.empty() ? b.Ints({}) : b.Concat(dims, 0)});
  }
  const Value extents = b.Concat(DimsOf(b, x, 0, static_cast<int>(*size)), 0);
  const Term tuples = Checked({n, 1, "indices"}, indices, 0, extents).As(DType::kInt64);
  return {b.Op("gather_nd", {x, tuples.Transpose(AxisMoved(tuples.rank(), tuples.rank() - 1, 0))},
               {{"batch_dims", 0}})};
}

// --- Scatter: it says itself which index is out of range ---

Outputs Scattered(NodeContext& n, const Value& data, size_t indices, const Value& updates,
                  std::string_view mode) {
  const auto size = TupleSize(n, indices, data.rank());
  if (!size) return {};
  if (*size == 0) return n.Unsupported("{} without axes", n.InputText(indices, "indices"));
  n.b().SetSpan(n.InputSpan(indices, "indices"));
  return {n.b().Op("scatter_nd", {data, n.b().Cast(n.Input(indices), DType::kInt64), updates},
                   {{"mode", std::string(mode)}, {"tuples_last", true}})};
}
template <OpName kMode>
Outputs TensorScatter(NodeContext& n) {
  return Scattered(n, n.Input(0), 1, n.Input(2), kMode.chars);
}
Outputs TensorScatterSub(NodeContext& n) {
  return Scattered(n, n.Input(0), 1, n.b().Op("negative", {n.Input(2)}), "add");
}
Outputs ScatterNd(NodeContext& n) {
  if (!CountOf(n, n.Input(2), "shape")) return {};
  const Value shape = n.b().Cast(n.Input(2), DType::kInt64);
  return Scattered(n, Filled(n, 0, n.Input(1).dtype(), shape), 0, n.Input(1), "add");
}

// --- Comparing with places ---

Outputs OneHot(NodeContext& n) {
  const Term indices(n, 0), on = AsScalar(Term(n, 2)), off = AsScalar(Term(n, 3));
  const int rank = indices.rank() + 1;
  const int axis = n.Axis(n.Int("axis", -1), rank);
  if (!Ok(n)) return {};
  const Term depth(n, NotNegative({n, 1, "depth"}));
  const Term hit = Equal(indices.As(DType::kInt64).Expand(axis),
                         Along(Range(AsScalar(depth).As(DType::kInt64)), axis, rank));
  return {Select(hit, on, off)};
}

Outputs Where(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  if (x.dtype() != DType::kBool) x = Term(b, b.Op("not_equal", {x, x.Number(0)}));
  return {x.Call("argwhere").As(DType::kInt64)};
}

Outputs InTopK(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), targets = Term(n, 1).As(DType::kInt64);
  const Term k = n.Has(2) ? AsScalar(Term(n, 2)).As(DType::kInt64) : Term(b, b.Int(n.Int("k", 1)));
  const Term hit = Equal(RangeOf(b, x, 1), targets.Expand(1));  // (batch, classes)
  const Term own = Sum(Select(hit, x, x.Number(0)), {1});
  const Term better = (x > own).As(DType::kInt64).Over("sum", {1}, false);
  const Term finite = x.Call("isfinite").Over("all", {1}, false);
  const Term there = hit.Over("any", {1}, false);
  return {And(And(better < k, there), finite)};
}

// --- Sorting ---

Outputs TopKOf(NodeContext& n, const Value& count) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const std::string dtype(DTypeName(n.Type("index_type", DType::kInt32)));
  const int axis = x.rank() - 1;
  if (x.rank() < 1) return n.Fail("expected an input of rank 1 or more");
  const auto k = b.ConstantInts(count);
  if (k && (k->size() != 1 || (*k)[0] < 0)) return n.Fail("k: expected one number, 0 or more");
  if (k && (*k)[0] == 0) {  // Relay's 0 means all
    const Term none = Term(b, x).Slice(axis, 0, 0);
    return {none, none.As(n.Type("index_type", DType::kInt32))};
  }
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("is_ascend", false);
  attrs.Set("dtype", dtype);
  attrs.Set("ret_type", "both");
  if (k) {
    attrs.Set("k", AttrList{(*k)[0]});
    return b.Fields(b.Op("topk", {x}, attrs));
  }
  attrs.Set("below_one_is_none", true);
  const Term wanted = AsScalar(Term(b, count)).As(DType::kInt64);
  if (FollowsFromDims(b, wanted)) return b.Fields(b.Op("dyn.topk", {x, wanted}, attrs));
  const Term end = Term(b, b.DimOf(x, axis)) + 1;
  return b.Fields(b.Op("dyn.topk", {x, Checked({n, 1, "k"}, wanted, 0, end)}, attrs));
}
Outputs TopK(NodeContext& n) { return TopKOf(n, n.b().Int(n.Int("k", 1))); }
Outputs TopKV2(NodeContext& n) { return TopKOf(n, n.Input(1)); }

Outputs NthElement(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Value sorted =
      b.Op("sort", {x}, {{"axis", x.rank() - 1}, {"is_ascend", !n.Bool("reverse", false)}});
  const Value at = Below({n, 1, "n"}, AsScalar(Term(n, 1)), b.DimOf(x, -1));
  return {b.Op("take", {sorted, at}, {{"axis", x.rank() - 1}})};
}

Outputs Bucketize(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<double> bounds = n.Floats("boundaries");
  const Term x(n, 0);
  const DType dtype = x.dtype() == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  const Value all = Table(b, bounds, {static_cast<int64_t>(bounds.size())}, dtype);
  return {b.Op("searchsorted", {all, x.As(dtype)}, {{"right", true}, {"dtype", "int32"}})};
}

template <bool kRight>
Outputs Bound(NodeContext& n) {
  const std::string dtype(DTypeName(n.Type("out_type", DType::kInt32)));
  return {
      n.b().Op("searchsorted", {n.Input(0), n.Input(1)}, {{"right", kRight}, {"dtype", dtype}})};
}

// --- Different elements ---

Term WithoutPadding(const Term& padded, const Value& number) {
  TypedBuilder& b = padded.b();
  return {b, b.Op("dyn.strided_slice",
                  {padded, b.Ints({0}), b.Cast(number, DType::kInt64), b.Ints({1})})};
}

// Values in the order of the data, each element's place among them, counts.
Outputs UniqueOf(NodeContext& n, int64_t axis) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const DType index = n.Type("out_idx", DType::kInt32);
  const auto results = [&](const Term& first, const Value& places, const Term& counts) {
    return Outputs{x.Take(first.As(DType::kInt64), static_cast<int>(axis)), b.Cast(places, index),
                   counts.As(index)};
  };
  if (x.rank() == 1) {
    const Term keys = x.dtype() == DType::kString ? x.Call("string.id") : x;
    const std::vector<Value> all =
        b.Ops("unique", {keys}, {{"sorted", false}, {"return_counts", true}});
    if (all.size() < 5) return {};
    return results(WithoutPadding({b, all[1]}, all[3]), all[2],
                   WithoutPadding({b, all[4]}, all[3]));
  }
  const Term rows = x.Transpose(AxisMoved(x.rank(), static_cast<int>(axis), 0));
  const std::vector<Value> all = b.Ops("unique_rows", {rows}, {{"sorted", false}});
  if (all.size() < 4) return {};
  return results(WithoutPadding({b, all[0]}, all[2]), all[1], WithoutPadding({b, all[3]}, all[2]));
}
Outputs Unique(NodeContext& n) { return UniqueOf(n, 0); }
Outputs UniqueV2(NodeContext& n) {
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis) return {};
  const int at = axis->empty() ? 0 : n.Axis((*axis)[0], n.Input(0).rank(), n.InputText(1, "axis"));
  return Ok(n) ? UniqueOf(n, at) : Outputs{};
}

// The elements of x that y has none of, and their places.
Outputs ListDiff(NodeContext& n) {
  Term x(n, 0), y(n, 1);
  const Term all = x;
  if (x.dtype() == DType::kString) {
    x = x.Call("string.id");
    y = y.Call("string.id");
  }
  const Term found = Equal(x.Expand(1), y.Expand(0)).As(DType::kInt32).Over("sum", {1}, false);
  const Term left = Equal(found, 0).Call("argwhere").As(DType::kInt64).Reshape({-1});
  return {all.Take(left, 0), left.As(n.Type("out_idx", DType::kInt32))};
}

// --- Counting ---

// How often each number below `size` is there, or the sum of its weights: in all of `x` or, of rank
// 2, in each row.
Term Counted(NodeContext& n, const InputName& of, const Term& size, std::optional<Term> weights,
             bool rows, bool binary, DType dtype) {
  TypedBuilder& b = n.b();
  const Term x = AtLeast(of, of.value, 0).As(DType::kInt64);
  const Term place = Minimum(x, size);  // what is beyond goes behind the last
  Term flat = place;
  Term bins = size + 1;
  if (rows) {
    flat = place + RangeOf(b, x, 0).Expand(1) * bins;
    bins = bins * Extent(b, x, 0);
  }
  const Value zeros = Filled(b, 0, dtype, AsVector(bins));
  const Term ones = Term(b, b.Op("ones_like", {flat})).As(dtype);
  const Value added = weights && !binary ? weights->As(dtype).Reshape({-1}) : ones.Reshape({-1});
  Term y(b, b.Op("scatter_elements", {zeros, flat.Reshape({-1}), added},
                 {{"axis", 0}, {"reduction", binary ? "max" : "add"}}));
  if (rows) y = To(y, {b.DimOf(x, 0), AsVector(size + 1)});
  const int axis = rows ? 1 : 0;
  return y.Take(Range(size), axis);
}

Outputs Bins(NodeContext& n, bool rows, bool binary) {
  const Term size = AtLeast({n, 1, "size"}, AsScalar(Term(n, 1)).As(DType::kInt64), 0);
  std::optional<Term> weights;
  const Value given = n.Input(2);
  if (!given.dim(0).is_const(0)) weights = Term(n.b(), given);
  return {Counted(n, {n, 0, "input"}, size, weights, rows, binary, given.dtype())};
}
Outputs Bincount(NodeContext& n) { return Bins(n, false, false); }
Outputs DenseBincount(NodeContext& n) {
  return Bins(n, n.Input(0).rank() == 2, n.Bool("binary_output", false));
}

Outputs HistogramFixedWidth(NodeContext& n) {
  const Term x = Term(n, 0).As(DType::kFloat64), range = Term(n, 1).As(DType::kFloat64);
  const Term bins = AtLeast({n, 2, "nbins"}, AsScalar(Term(n, 2)).As(DType::kInt64), 1);
  const Term low = ElementOf(range, 0), high = ElementOf(range, 1);
  const Term step = (high - low) / bins.As(DType::kFloat64);
  const Term place = Floor((Maximum(x, low) - low) / step);
  const Term at = Minimum(place, (bins - 1).As(DType::kFloat64)).As(DType::kInt64);
  InputName of(n, 0, "values");
  of.value = at.Reshape({-1});
  const DType dtype = n.Type("dtype", DType::kInt32);
  return {Counted(n, of, bins, std::nullopt, false, false, dtype).As(dtype)};
}

// --- Partitions ---

Outputs DynamicPartition(NodeContext& n) {
  const int first = n.Input(1).rank();
  const int64_t count = n.Count("num_partitions", 1);
  if (count < 1 || count > 1 << 16) return n.Fail("num_partitions: expected 1 to 65536");
  const Term partitions = Checked({n, 1, "partitions"}, n.Input(1), 0, n.b().Ints({count}));
  if (!Ok(n)) return {};
  const Term ids = partitions.Reshape({-1});
  const Term rows = Flattened(first == 0 ? Term(n, 0).Expand(0) : Term(n, 0), std::max(first, 1));
  Outputs out;
  for (int64_t i = 0; i < count; ++i) {
    const Term places = Equal(ids, static_cast<double>(i)).Call("argwhere").As(DType::kInt64);
    out.push_back(rows.Take(places.Reshape({-1}), 0));
  }
  return out;
}

// Rows of several tensors at the places that several tensors say; the last one counts.
Outputs DynamicStitch(NodeContext& n) {
  TypedBuilder& b = n.b();
  const size_t count = n.num_inputs() / 2;
  std::vector<Value> places, rows;
  std::vector<int64_t> known;
  bool all_known = true;
  for (size_t i = 0; i < count; ++i) {
    const Term index(n, i), data(n, count + i);
    if (const auto numbers = b.ConstantInts(index)) {
      known.insert(known.end(), numbers->begin(), numbers->end());
    } else {
      all_known = false;
    }
    places.push_back(index.As(DType::kInt64).Reshape({-1}));
    rows.push_back(index.rank() == 0 ? data.Expand(0) : Flattened(data, index.rank()));
  }
  const Term data(b, b.Concat(rows, 0));
  if (all_known && !known.empty()) {
    int64_t most = 0;
    for (const int64_t at : known) {
      if (at < 0 || at > 1 << 24) return n.Fail("indices: expected 0 to 2^24, found {}", at);
      most = std::max(most, at);
    }
    std::vector<int64_t> from(static_cast<size_t>(most) + 1, -1);
    for (size_t i = 0; i < known.size(); ++i)
      from[static_cast<size_t>(known[i])] = static_cast<int64_t>(i);
    if (std::find(from.begin(), from.end(), -1) == from.end()) return {data.Take(b.Ints(from), 0)};
  }
  const Term at(b, b.Concat(places, 0));
  // There may be none.
  const Term end = Term(b, b.Concat({(at + 1), b.Ints({0})}, 0)).Over("max", {0});
  std::vector<Value> dims = DimsOf(b, data, 1, data.rank());
  dims.insert(dims.begin(), end.value());
  const Value zeros = Filled(b, 0, data.dtype(), b.Concat(dims, 0));
  return {
      b.Op("scatter_nd", {zeros, at.Expand(1), data}, {{"mode", "update"}, {"tuples_last", true}})};
}

Outputs UnravelIndex(NodeContext& n) {
  const Value indices = n.Input(0);
  return {n.b().Cast(n.b().Op("unravel_index", {indices, n.b().Cast(n.Input(1), indices.dtype())}),
                     indices.dtype())};
}

constexpr OperatorDef kIndexOperators[] = {
    {"Bincount", 3, 3, Bincount},
    {"Bucketize", 1, 1, Bucketize},
    {"DenseBincount", 3, 3, DenseBincount},
    {"DynamicPartition", 2, 2, DynamicPartition},
    {"DynamicStitch", 2, -1, DynamicStitch},
    {"Gather", 2, 2, OfParts<Gather>},
    {"GatherNd", 2, 2, OfParts<GatherNd>},
    {"GatherV2", 3, 3, OfParts<GatherV2>},
    {"HistogramFixedWidth", 3, 3, HistogramFixedWidth},
    {"InTopK", 2, 2, InTopK, {}, "21"},
    {"InTopKV2", 3, 3, InTopK, {}, "21"},
    {"ListDiff", 2, 2, ListDiff, "out idx", "11"},
    {"LowerBound", 2, 2, Bound<false>, {}, "22"},
    {"NthElement", 2, 2, NthElement},
    {"OneHot", 4, 4, OneHot},
    {"ParallelDynamicStitch", 2, -1, DynamicStitch},
    {"ScatterNd", 3, 3, ScatterNd},
    {"ScatterNdNonAliasingAdd", 3, 3, TensorScatter<"add">},
    {"TensorScatterAdd", 3, 3, TensorScatter<"add">},
    {"TensorScatterMax", 3, 3, TensorScatter<"max">},
    {"TensorScatterMin", 3, 3, TensorScatter<"min">},
    {"TensorScatterSub", 3, 3, TensorScatterSub},
    {"TensorScatterUpdate", 3, 3, TensorScatter<"update">},
    {"TopK", 1, 1, TopK, "values indices"},
    {"TopKV2", 2, 2, TopKV2, "values indices"},
    {"Unique", 1, 1, Unique, "y idx", "1"},
    {"UniqueV2", 2, 2, UniqueV2, "y idx"},
    {"UniqueWithCounts", 1, 1, Unique, "y idx count", "1"},
    {"UniqueWithCountsV2", 2, 2, UniqueV2, "y idx count"},
    {"UnravelIndex", 2, 2, UnravelIndex},
    {"UpperBound", 2, 2, Bound<true>, {}, "22"},
    {"Where", 1, 1, Where},
};

}  // namespace

std::span<const OperatorDef> IndexOperators() { return kIndexOperators; }

}  // namespace relayvm::import::tensorflow
