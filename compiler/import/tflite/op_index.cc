// Operators that index by data, and those that find indices.
#include <algorithm>
#include <limits>

#include "compiler/import/composite/axes.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

Outputs Gather(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto& o = n.Get<fb::GatherOptions>();
  const Value x = n.Input(0);
  const int axis = n.Axis(o.axis(), x.rank());
  const int batch = o.batch_dims() < 0 ? o.batch_dims() + n.Input(1).rank() : o.batch_dims();
  if (batch < 0 || batch > axis || batch > n.Input(1).rank())
    return n.Fail("batch_dims {} before axis {}", o.batch_dims(), axis);
  if (!b.status().ok()) return {};
  const Value indices = Term(n, 1).As(DType::kInt64);
  const Value inside = Below({n, 1, "indices"}, indices, b.DimOf(x, axis));
  return {b.Op("take", {x, inside}, {{"axis", axis}, {"batch_dims", batch}})};
}

Outputs EmbeddingLookup(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value table = n.Input(1), ids = Term(n, 0).As(DType::kInt64);
  const Value inside = Below({n, 0, "ids"}, ids, b.DimOf(table, 0));
  const Value rows = b.Op("take", {table, inside}, {{"axis", 0}});
  const bool real = n.In(1).quantisation && n.Out().type == fb::TensorType::FLOAT32;
  if (!real) return {rows};
  if (!n.In(1).quantisation.is_per_channel()) return {RealOf(b, rows, n.In(1))};
  const auto& scales = n.In(1).quantisation.scales;
  const Term all =
      import::Table(b, {scales.begin(), scales.end()}, {static_cast<int64_t>(scales.size())});
  return {Term(b, rows).As(DType::kFloat32) * all.Take(inside, 0).Expand(1, table.rank() - 1)};
}

// Rows of a table by its keys, zeros where a key is not there, and whether it is.
Outputs HashtableLookup(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term query(n, 0), keys(n, 1), values(n, 2);
  if (query.rank() != 1 || keys.rank() != 1 || values.rank() < 1)
    return n.Fail("expected keys of 1 dim");
  const Term hit = Equal(query.Expand(1), keys);
  const Term found = hit.Over("any", {1}, false);
  const Term place =
      hit.As(DType::kInt32).Call("argmax", {{"axis", AttrList{1}}, {"keepdims", false}});
  const Term rows = values.Take(place, 0);
  const Value zero = b.Scalar(0, rows.dtype());
  return {Select(found.Expand(1, rows.rank() - 1), rows, Term(b, zero)), found.As(DType::kUInt8)};
}

// Sums, means or sums over roots of rows of a table, each with a weight: (ids, indices, shape,
// weights, table). Which sum a row goes to its index says but for the last axis.
Outputs EmbeddingLookupSparse(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int combiner = n.Get<fb::EmbeddingLookupSparseOptions>().combiner();
  const auto shape = n.ConstantInts(2, "dense_shape");
  if (!shape) return {};
  if (shape->size() < 2 || n.Input(0).rank() != 1 || n.Input(1).rank() != 2 ||
      !n.Input(1).dim(1).is_const(static_cast<int64_t>(shape->size())) || combiner < 0 ||
      combiner > 2) {
    return n.Fail("ids, indices and shape do not fit");
  }
  int64_t count = 1;
  Term bucket(b, b.Int(0));
  const Term indices = Term(n, 1).As(DType::kInt64);
  for (size_t i = 0; i + 1 < shape->size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    if ((*shape)[i] < 0 || __builtin_mul_overflow(count, (*shape)[i], &count))
      return n.Fail("its shape overflows");
    bucket = bucket * static_cast<double>((*shape)[i]) +
             Term(b, b.Squeeze(indices.Slice(1, k, k + 1), {1}));
  }
  const Value table = n.Input(4);
  const Term ids(b, Below({n, 0, "ids"}, Term(n, 0).As(DType::kInt64), b.DimOf(table, 0)));
  const Term rows = Term(b, table).Take(ids, 0), weights(n, 3);
  const Term inside = Checked({b, bucket, n.InputText(1, "indices")}, bucket, 0, b.Ints({count}));
  const auto summed = [&](const Term& v) {
    std::vector<Value> dims = {b.Ints({count})};
    for (int i = 1; i < v.rank(); ++i) dims.push_back(b.DimOf(v, i));
    const Value zeros = Filled(b, 0, v.dtype(), b.Concat(dims, 0));
    return Term(b, b.Op("scatter_nd", {zeros, inside.Expand(0), v}, {{"mode", "add"}}));
  };
  const int more = rows.rank() - 1;
  Term y = summed(rows * weights.Expand(1, more));
  if (combiner != 0) {
    const Term total = combiner == 1 ? summed(weights) : Sqrt(summed(weights * weights));
    y = Select(total.Expand(1, more) > 0, y / total.Expand(1, more), y);
  }
  std::vector<Value> dims = {b.Ints({shape->begin(), shape->end() - 1})};
  for (int i = 1; i < rows.rank(); ++i) dims.push_back(b.DimOf(rows, i));
  return {ShapedAs(b, y, dims)};
}

// Tuples of indices (.., k) as Relay has them: (k, ..). Each lies in the axes of `extents`.
std::optional<Term> TuplesOf(NodeContext& n, size_t input, const Value& extents) {
  const Value indices = n.Input(input);
  if (indices.rank() < 1 || !indices.dim(-1).is_const())
    return n.Unsupported("indices: the length of the tuples must be known");
  const Term inside = Checked({n, input, "indices"}, Term(n, input).As(DType::kInt64), 0, extents);
  return inside.Transpose(AxisMoved(indices.rank(), indices.rank() - 1, 0));
}

Outputs GatherNd(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Dim count = n.Input(1).rank() > 0 ? n.Input(1).dim(-1) : Dim(0);
  if (!count.is_const() || count.value() < 1 || count.value() > x.rank())
    return n.Fail("expected indices of 1 to {} axes", x.rank());
  std::vector<Value> extents;
  for (int i = 0; i < count.value(); ++i) extents.push_back(b.DimOf(x, i));
  const auto tuples = TuplesOf(n, 1, b.Concat(extents, 0));
  return tuples ? Outputs{b.Op("gather_nd", {x, *tuples})} : Outputs{};
}

// Zeros, to which updates are added.
Outputs ScatterNd(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value shape = Term(n, 2).As(DType::kInt64);
  const Dim count = n.Input(0).rank() > 0 ? n.Input(0).dim(-1) : Dim(0);
  const auto rank = CountOf(b, shape, "shape");
  if (!rank) return {};
  if (!count.is_const() || count.value() < 1 || count.value() > *rank)
    return n.Fail("expected indices of 1 to {} axes", *rank);
  const bool is_bool = n.Input(1).dtype() == DType::kBool;
  const DType dtype = is_bool ? DType::kInt32 : n.Input(1).dtype();
  const Value zeros = Filled(b, 0, dtype, NotNegative({b, shape, n.InputText(2, "shape")}));
  const Term extents = Term(b, shape).Slice(0, 0, count.value());
  const auto tuples = TuplesOf(n, 0, extents);
  if (!tuples) return {};
  const Term y(b, b.Op("scatter_nd", {zeros, *tuples, Term(n, 1).As(dtype)}, {{"mode", "add"}}));
  return {y.As(n.Input(1).dtype())};
}

Outputs OneHot(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int rank = n.Input(0).rank() + 1;
  const int axis = n.Axis(n.Get<fb::OneHotOptions>().axis(), rank);
  if (!b.status().ok()) return {};
  const Term depth = AtLeast({n, 1, "depth"}, AsScalar(Term(n, 1)).As(DType::kInt64), 0);
  const Term indices = Term(n, 0).As(DType::kInt64).Expand(axis);
  const Term hit = Equal(indices, Along(Range(depth), axis, rank));
  return {Select(hit, AsScalar(Term(n, 2)), AsScalar(Term(n, 3)))};
}

Outputs TopK(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  // NaN stands last, and is none of what is found by its place.
  const bool has_nan = IsFloat(given.dtype());
  const Value x = has_nan ? Select(Equal(given, given), given, given.Number(-HUGE_VAL)) : given;
  const DType to = n.Out(1).dtype.value_or(DType::kInt32);
  Attrs attrs;
  attrs.Set("axis", -1);
  attrs.Set("is_ascend", false);
  attrs.Set("dtype", "int64");
  attrs.Set("ret_type", "both");
  std::vector<Value> found;
  if (const auto k = b.ConstantInts(n.Input(1))) {
    if (k->size() != 1 || (*k)[0] < 0) return n.Fail("k: expected one number, 0 or more");
    if ((*k)[0] == 0) {  // Relay's 0 means all
      const Term none = Term(b, x).Slice(x.rank() - 1, 0, 0);
      return {none, none.As(to)};
    }
    attrs.Set("k", AttrList{(*k)[0]});
    found = b.Fields(b.Op("topk", {x}, attrs));
  } else {
    attrs.Set("below_one_is_none", true);
    const Term count = AsScalar(Term(n, 1)).As(DType::kInt64);
    const Term end(b, b.DimOf(x, -1));
    found = b.Fields(b.Op("dyn.topk", {x, Checked({n, 1, "k"}, count, 0, end + 1)}, attrs));
  }
  if (found.size() != 2) return {};
  if (has_nan) found[0] = b.Op("gather", {given, found[1]}, {{"axis", -1}});
  return {found[0], b.Cast(found[1], to)};
}

Outputs Where(NodeContext& n) {
  return {Term(n, 0).Call("argwhere").As(n.Out().dtype.value_or(DType::kInt64))};
}

Outputs Unique(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Value> all =
      b.Ops("unique", {Term(n, 0).Reshape({-1})}, {{"sorted", false}, {"return_counts", true}});
  if (all.size() < 5) return {};
  const Value values =
      b.Op("dyn.strided_slice", {all[0], b.Ints({0}), b.Cast(all[3], DType::kInt64), b.Ints({1})});
  return {values, b.Cast(all[2], n.Out(1).dtype.value_or(DType::kInt32))};
}

Outputs SparseToDense(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term shape = AsVector(Term(n, 1).As(DType::kInt64));
  const Term fill = AsScalar(Term(n, 3));
  const auto rank = CountOf(b, shape, "shape");
  if (!rank) return {};
  Term indices = Term(n, 0).As(DType::kInt64);
  if (indices.rank() == 0) indices = indices.Reshape({1, 1});
  if (indices.rank() == 1) indices = indices.Expand(1);
  if (indices.rank() != 2 || !indices.value().dim(1).is_const(*rank))
    return n.Fail("expected indices of {} axes", *rank);
  const std::string dtype(DTypeName(fill.dtype()));
  const Value full = b.Op("dyn.full", {fill, shape}, {{"dtype", dtype}});
  const Term inside = Checked({n, 0, "indices"}, indices, 0, shape);
  Term values(n, 2);
  if (values.rank() == 0)
    values = Term(b, b.Op("dyn.broadcast_to", {values, b.DimOf(indices, 0)}, {{"dtype", dtype}}));
  return {b.Op("scatter_nd", {full, inside.Transpose({1, 0}), values}, {{"mode", "update"}})};
}

// --- Segments: rows of one id are one row ---

Outputs Segments(NodeContext& n, const char* mode, double first, const Value& count) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Term ids = Term(n, 1).As(DType::kInt64);
  std::vector<Value> dims = {count};
  for (int i = ids.rank(); i < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  const Value shape = b.Concat(dims, 0);
  const bool least = first == -HUGE_VAL, most = first == HUGE_VAL;
  Value fill = b.Scalar(least || most ? 0 : first, x.dtype());
  if (least || most) {
    const bool is_double = x.dtype() == DType::kFloat64;
    const double largest = is_double ? std::numeric_limits<double>::max()
                                     : static_cast<double>(std::numeric_limits<float>::max());
    if (IsFloat(x.dtype())) {
      fill = b.Scalar(least ? -largest : largest, x.dtype());
    } else {
      const int bits = DTypeBits(x.dtype());
      const int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
      fill = b.Int(least ? -high - 1 : high, x.dtype());
    }
  }
  const Value filled =
      b.Op("dyn.full", {fill, shape}, {{"dtype", std::string(DTypeName(x.dtype()))}});
  const Term inside = Checked({n, 1, "ids"}, ids, 0, count);
  const Term flat = inside.Reshape({-1});
  std::vector<Value> data = {b.DimOf(flat, 0)};
  for (int i = ids.rank(); i < x.rank(); ++i) data.push_back(b.DimOf(x, i));
  const Value updates = ids.rank() == 1 ? x.value() : ShapedAs(b, x, data);
  return {b.Op("scatter_nd", {filled, flat.Expand(0), updates}, {{"mode", mode}})};
}

// Rows of ids below 0 are left out: they go to a further one.
template <int kKind>
Outputs UnsortedSegment(NodeContext& n) {
  constexpr const char* kModes[] = {"add", "mul", "max", "min"};
  constexpr double kFirst[] = {0, 1, -HUGE_VAL, HUGE_VAL};
  const Term count = AsVector(Term(n, 2).As(DType::kInt64)), more = count + 1;
  const Term ids = Term(n, 1).As(DType::kInt64);
  const NodeContext with = n.With(1, Select(ids < 0, AsScalar(count), ids));
  NodeContext inner = with;
  const Outputs rows = Segments(inner, kModes[kKind], kFirst[kKind], more);
  if (rows.empty()) return {};
  const Value y = n.b().Op("dyn.strided_slice", {rows[0], n.b().Ints({0}), count, n.b().Ints({1})});
  std::vector<Value> dims = {count};
  for (int i = 1; i < y.rank(); ++i) dims.push_back(n.b().DimOf(y, i));
  return {ShapedAs(n, y, dims)};
}

Outputs SegmentSum(NodeContext& n) {
  const Term ids = Term(n, 1).As(DType::kInt64);
  const Term last = ids.Slice(0, -1, INT64_MAX) + 1;  // they are in order
  return Segments(n, "add", 0, last);
}

Outputs Bucketize(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto* bounds = n.Get<fb::BucketizeOptions>().boundaries();
  std::vector<double> values;
  for (uint32_t i = 0; bounds != nullptr && i < bounds->size(); ++i)
    values.push_back(static_cast<double>(bounds->Get(i)));
  const Term x(n, 0);
  if (values.empty()) return {Term(b, b.Op("zeros_like", {x})).As(DType::kInt32)};
  const Term edges = import::Table(b, values, {static_cast<int64_t>(values.size())});
  const Term above = x.As(DType::kFloat32).Expand(x.rank()) >= edges;
  return {above.As(DType::kInt32).Over("sum", {x.rank()}, false)};
}

Outputs DynamicUpdateSlice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), update(n, 1);
  const auto count = CountOf(b, n.Input(2), "start indices");
  if (!count) return {};
  if (*count != x.rank() || update.rank() != x.rank()) return n.Fail("ranks do not fit");
  if (x.rank() == 0) return {update};
  std::vector<Value> room, size;
  for (int i = 0; i < x.rank(); ++i) {
    size.push_back(b.DimOf(update, i));
    room.push_back(Term(b, b.DimOf(x, i)) - Term(b, size.back()));
  }
  const Term starts = Term(n, 2).As(DType::kInt64);
  const Term begin = Clamp(starts, starts.Number(0), Term(b, b.Concat(room, 0)));
  const Term end = begin + Term(b, b.Concat(size, 0));
  return {b.Op("strided_set", {x, update, begin, end,
                               b.Ints(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1))})};
}

// --- Tables ---

Outputs HashtableFind(NodeContext& n) {
  TypedBuilder& b = n.b();
  const LookupTable& table = n.importer().TableOf(n.importer().HandleOf(n.TensorOf(0)));
  if (!table.keys) return n.Fail("its table has no contents");
  const Term query(n, 1), keys(b, table.keys);
  const Term hit = Equal(query.Expand(query.rank()), keys);  // (.., keys)
  const Term found = hit.Over("any", {query.rank()}, false);
  const Term place =
      hit.As(DType::kInt32).Call("argmax", {{"axis", AttrList{query.rank()}}, {"keepdims", false}});
  return {Select(found, Term(b, table.values).Take(place, 0), AsScalar(Term(n, 2)))};
}

Outputs HashtableImport(NodeContext& n) {
  LookupTable& table = n.importer().TableOf(n.importer().HandleOf(n.TensorOf(0)));
  table.keys = n.Input(1);
  table.values = n.Input(2);
  return {};
}

Outputs HashtableSize(NodeContext& n) {
  const LookupTable& table = n.importer().TableOf(n.importer().HandleOf(n.TensorOf(0)));
  if (!table.keys) return {n.b().Ints({0})};
  return {n.b().DimOf(table.keys, 0)};
}

Outputs Hashtable(NodeContext& n) {
  const auto& o = n.Get<fb::HashtableOptions>();
  if (n.num_outputs() == 1)
    n.importer().SetHandle(n.OutputTensor(0), fmt::format("table {}", o.table_id()));
  return {};
}

}  // namespace

std::span<const OperatorDef> IndexOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::GATHER, 2, 2, Gather, Options::GatherOptions},
      {Code::GATHER_ND, 2, 2, GatherNd},
      {Code::EMBEDDING_LOOKUP, 2, 2, EmbeddingLookup},
      {Code::EMBEDDING_LOOKUP_SPARSE, 5, 5, EmbeddingLookupSparse,
       Options::EmbeddingLookupSparseOptions},
      {Code::HASHTABLE_LOOKUP, 3, 3, HashtableLookup},
      {Code::SCATTER_ND, 3, 3, ScatterNd},
      {Code::ONE_HOT, 4, 4, OneHot, Options::OneHotOptions},
      {Code::TOPK_V2, 2, 2, TopK},
      {Code::WHERE, 1, 1, Where},
      {Code::UNIQUE, 1, 1, Unique, Options::UniqueOptions},
      {Code::SPARSE_TO_DENSE, 4, 4, SparseToDense},
      {Code::SEGMENT_SUM, 2, 2, SegmentSum},
      {Code::UNSORTED_SEGMENT_SUM, 3, 3, UnsortedSegment<0>},
      {Code::UNSORTED_SEGMENT_PROD, 3, 3, UnsortedSegment<1>},
      {Code::UNSORTED_SEGMENT_MAX, 3, 3, UnsortedSegment<2>},
      {Code::UNSORTED_SEGMENT_MIN, 3, 3, UnsortedSegment<3>},
      {Code::BUCKETIZE, 1, 1, Bucketize, Options::BucketizeOptions},
      {Code::DYNAMIC_UPDATE_SLICE, 3, 3, DynamicUpdateSlice},
      {Code::HASHTABLE, 0, 0, Hashtable, Options::HashtableOptions},
      {Code::HASHTABLE_FIND, 3, 3, HashtableFind},
      {Code::HASHTABLE_IMPORT, 3, 3, HashtableImport},
      {Code::HASHTABLE_SIZE, 1, 1, HashtableSize},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
