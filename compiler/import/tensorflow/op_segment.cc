// Sums and extremes of segments of rows; ragged tensors.
#include <cmath>
#include <limits>

#include "compiler/import/checked.h"
#include "compiler/import/tensorflow/segments.h"

namespace relayvm::import::tensorflow {

namespace {

// The least or the greatest number of a dtype; of floats infinity, or the largest finite one.
Term LimitOf(TypedBuilder& b, DType dtype, bool least, bool finite = false) {
  if (IsFloat(dtype)) {
    const double most = !finite                    ? HUGE_VAL
                        : dtype == DType::kFloat64 ? std::numeric_limits<double>::max()
                        : dtype == DType::kFloat32 ? std::numeric_limits<float>::max()
                        : dtype == DType::kFloat16 ? 65504
                                                   : std::ldexp(255, 120);  // bfloat16
    return {b, b.Scalar(least ? -most : most, dtype)};
  }
  const int bits = DTypeBits(dtype);
  if (!IsSignedInt(dtype)) return Term(b, b.Cast(b.Int(least ? 0 : -1), dtype));
  const int64_t most = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return Term(b, b.Cast(b.Int(least ? -most - 1 : most), dtype));
}
Value FilledWith(const Term& scalar, const Value& shape) {
  return scalar.Call("dyn.broadcast_to", shape);
}

// TensorFlow's comparisons forget what came before NaN: a segment is NaN where its last row is.
Term OrLastNan(const Term& data, const Term& ids, const Term& y) {
  TypedBuilder& b = data.b();
  const Value none = Filled(b, 0, DType::kUInt8, b.ShapeOf(y));
  const Term nan(b, b.Op("scatter_nd", {none, ids.Expand(1), data.Call("isnan").As(DType::kUInt8)},
                         {{"mode", "update"}, {"tuples_last", true}}));
  return Select(Equal(nan, 0), y, y.Number(NAN));
}

}  // namespace

Term Segmented(const Term& data, const Term& ids, const Term& count, SegmentKind kind,
               const std::optional<Term>& fill) {
  TypedBuilder& b = data.b();
  const bool extreme = kind == SegmentKind::kMin || kind == SegmentKind::kMax;
  const bool counts = kind == SegmentKind::kMean || kind == SegmentKind::kSqrtN || extreme;
  const bool low = kind == SegmentKind::kMin;
  std::vector<Value> dims = DimsOf(b, data, 1, data.rank());
  dims.insert(dims.begin(), AsVector(count));
  const double first = kind == SegmentKind::kProd ? 1 : 0;
  const Term end = LimitOf(b, data.dtype(), !low);  // what loses against everything
  const Value start = extreme ? FilledWith(end, b.Concat(dims, 0))
                              : Filled(b, first, data.dtype(), b.Concat(dims, 0));
  const char* mode = kind == SegmentKind::kProd ? "mul" : low ? "min" : extreme ? "max" : "add";
  const Term y(
      b, b.Op("scatter_nd", {start, ids.Expand(1), data}, {{"mode", mode}, {"tuples_last", true}}));
  if (!counts) return y;
  const Value none = Filled(b, 0, DType::kInt64, AsVector(count));
  const Term ones(b, b.Op("ones_like", {ids}));
  const Term members =
      Term(b, b.Op("scatter_elements", {none, ids, ones}, {{"axis", 0}, {"reduction", "add"}}))
          .Expand(1, data.rank() - 1);
  if (extreme) {
    const Term found = IsFloat(data.dtype()) ? OrLastNan(data, ids, y) : y;
    return Select(members > 0, found, fill ? *fill : y.Number(0));
  }
  const Term size = Maximum(members, members.Number(1)).As(data.dtype());
  return y / (kind == SegmentKind::kMean ? size : Sqrt(size));
}

namespace {

// One more than the last of sorted ids; there may be none.
Term SegmentsOf(const Term& ids) {
  TypedBuilder& b = ids.b();
  const auto known = b.ConstantInts(ids);
  if (known) return {b, b.Int(known->empty() ? 0 : known->back() + 1)};
  const Value all = b.Concat({ids + 1, b.Ints({0})}, 0);
  return Term(b, all).Over("max", {0}, false);
}

template <SegmentKind kKind>
Outputs Segments(NodeContext& n) {
  const Term ids = Term(n, 1).As(DType::kInt64);
  const Term count = n.Has(2) ? AsScalar(Term(n, 2)).As(DType::kInt64) : SegmentsOf(ids);
  return {Segmented(Term(n, 0), ids, count, kKind)};
}

// Rows whose segment is negative count nowhere: they go behind the last.
template <SegmentKind kKind>
Outputs Unsorted(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term ids = Term(n, 1).As(DType::kInt64);
  const Term count(b, NotNegative({n, 2, "num_segments"}));
  const Term segments = AsScalar(count).As(DType::kInt64);
  const Term data = ids.rank() == 0 ? Term(n, 0).Expand(0) : Flattened(Term(n, 0), ids.rank());
  const Term flat = ids.Reshape({-1});
  std::optional<Term> fill;
  if (kKind == SegmentKind::kMin || kKind == SegmentKind::kMax)
    fill = LimitOf(b, data.dtype(), kKind == SegmentKind::kMax, /*finite=*/true);
  const Term y = Segmented(data, Select(flat < 0, segments, flat), segments + 1, kKind, fill);
  return {y.Take(Range(segments), 0)};
}

// Rows are taken by indices first.
template <SegmentKind kKind>
Outputs SparseSegments(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value places = Below({n, 1, "indices"}, n.Input(1), b.DimOf(n.Input(0), 0));
  const Term rows = Term(n, 0).Take(places, 0);
  const Term ids = Term(n, 2).As(DType::kInt64);
  const Term count = n.Has(3) ? AsScalar(Term(n, 3)).As(DType::kInt64) : SegmentsOf(ids);
  return {Segmented(rows, ids, count, kKind)};
}

// --- Ragged tensors: values, and where each row begins ---

Term FirstsOf(const Term& splits) { return splits.Slice(0, 0, -1); }
Term LengthsOf(const Term& splits) { return splits.Slice(0, 1, INT64_MAX) - FirstsOf(splits); }

// Rows of that length, or of the longest one's.
Term Padded(const Term& values, const Term& splits, const std::optional<Term>& length,
            const Term& fill) {
  TypedBuilder& b = values.b();
  const Term lengths = LengthsOf(splits);
  const Term longest =
      length ? *length : Term(b, b.Concat({lengths, b.Ints({0})}, 0)).Over("max", {0}, false);
  const Term at = Range(longest);
  const Term inside = at < lengths.Expand(1);  // (rows, length)
  const Term place = Select(inside, FirstsOf(splits).Expand(1) + at, at.Number(0));
  // There may be no values at all.
  std::vector<Value> none = DimsOf(b, values, 1, values.rank());
  none.insert(none.begin(), b.Ints({1}));
  const Value some = b.Concat({values, Filled(b, 0, values.dtype(), b.Concat(none, 0))}, 0);
  const Term taken = Term(b, some).Take(place, 0);
  return Select(inside.Expand(2, values.rank() - 1), taken, fill);
}

Term SplitsOfRows(const Term& rows, const Term& count) {
  TypedBuilder& b = rows.b();
  return {b,
          b.Op("searchsorted", {rows, Range(count + 1)}, {{"right", false}, {"dtype", "int64"}})};
}

// From the innermost axis out.
Outputs RaggedToTensor(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<std::string> types = n.Strings("row_partition_types");
  std::vector<Term> splits;
  std::optional<Term> rows;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!n.Has(3 + i)) return n.Fail("row_partition_types: more than inputs");
    const Term v = Term(n, 3 + i).As(DType::kInt64);
    if (types[i] == "FIRST_DIM_SIZE") {
      rows = AsScalar(v);
    } else if (types[i] == "ROW_SPLITS") {
      splits.push_back(v);
    } else if (types[i] == "VALUE_ROWIDS" && rows) {
      splits.push_back(SplitsOfRows(v, *rows));
      rows = Extent(b, v, 0);
    } else {
      return n.Unsupported("row partitions of kind {}", types[i]);
    }
  }
  const auto shape = n.Input(0).rank() == 1 ? b.ConstantInts(n.Input(0)) : std::nullopt;
  Term y(n, 1);
  const Term fill(n, 2);
  for (size_t i = splits.size(); i-- > 0;) {
    std::optional<Term> length;
    if (shape && shape->size() > i + 1 && (*shape)[i + 1] >= 0)
      length = Term(b, b.Int((*shape)[i + 1]));
    y = Padded(y, splits[i], length, fill);
  }
  if (shape && !shape->empty() && (*shape)[0] >= 0) {
    const Term count(b, b.Int((*shape)[0]));
    std::vector<Value> dims = DimsOf(b, y, 1, y.rank());
    dims.insert(dims.begin(), AsVector(count));
    const Term at = Range(count);
    const Term inside = at < Extent(b, y, 0);
    y = Select(inside.Expand(1, y.rank() - 1), y.Take(Select(inside, at, at.Number(0)), 0), fill);
  }
  return {y};
}

// The elements of rows that begin at `firsts` and are so long: for each its row, and its place in
// the row.
struct RowsOf {
  Term splits, row, place;
};
RowsOf RowsOfLengths(const Term& lengths) {
  TypedBuilder& b = lengths.b();
  const Value sums = lengths.Call("cumsum", {{"axis", 0}});
  const Term splits(b, b.Concat({b.Ints({0}), sums}, 0));
  const Term at = Range(AsScalar(splits.Slice(0, -1, INT64_MAX)));
  const Term row(b, b.Op("searchsorted", {sums, at}, {{"right", true}, {"dtype", "int64"}}));
  return {splits, row, at - splits.Take(row, 0)};
}

Outputs RaggedRange(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Value> all = n.As("AddN", {n.Input(0), n.b().Op("zeros_like", {n.Input(1)}),
                                               n.b().Op("zeros_like", {n.Input(2)})});
  if (all.empty()) return {};
  const Term like(b, all[0]), zero = AsVector(like) * 0.0;
  const Term starts = AsVector(Term(n, 0)) + zero, limits = AsVector(Term(n, 1)) + zero,
             deltas = AsVector(Term(n, 2)) + zero;
  const Term steps =
      ((limits - starts).As(DType::kFloat64) / deltas.As(DType::kFloat64)).Call("ceil");
  const RowsOf rows = RowsOfLengths(Maximum(steps, steps.Number(0)).As(DType::kInt64));
  const Term values =
      starts.Take(rows.row, 0) + rows.place.As(like.dtype()) * deltas.Take(rows.row, 0);
  return {rows.splits.As(n.Type("Tsplits", DType::kInt64)), values};
}

Outputs RaggedGather(NodeContext& n) {
  if (n.Int("PARAMS_RAGGED_RANK", 1) != 1 || n.Input(2).rank() > 1)
    return n.Unsupported("more than one ragged axis");
  const Term splits = Term(n, 0).As(DType::kInt64);
  const Term at =
      AsVector(Term(n, Below({n, 2, "indices"}, n.Input(2), Term(n, n.b().DimOf(splits, 0)) - 1)));
  const RowsOf rows = RowsOfLengths(LengthsOf(splits).Take(at, 0));
  const Term from = FirstsOf(splits).Take(at, 0).Take(rows.row, 0) + rows.place;
  return {rows.splits.As(n.Input(0).dtype()), Term(n, 1).Take(from, 0)};
}

using Kind = SegmentKind;
constexpr OperatorDef kSegmentOperators[] = {
    {"RaggedGather", 3, 3, RaggedGather,
     "output_nested_splits*OUTPUT_RAGGED_RANK output_dense_values"},
    {"RaggedRange", 3, 3, RaggedRange, "rt_nested_splits rt_dense_values"},
    {"RaggedTensorToTensor", 4, -1, RaggedToTensor},
    {"SegmentMax", 2, 2, Segments<Kind::kMax>, {}, "?1"},
    {"SegmentMaxV2", 3, 3, Segments<Kind::kMax>, {}, "?1"},
    {"SegmentMean", 2, 2, Segments<Kind::kMean>, {}, "?1"},
    {"SegmentMin", 2, 2, Segments<Kind::kMin>, {}, "?1"},
    {"SegmentMinV2", 3, 3, Segments<Kind::kMin>, {}, "?1"},
    {"SegmentProd", 2, 2, Segments<Kind::kProd>, {}, "?1"},
    {"SegmentProdV2", 3, 3, Segments<Kind::kProd>, {}, "?1"},
    {"SegmentSum", 2, 2, Segments<Kind::kSum>, {}, "?1"},
    {"SegmentSumV2", 3, 3, Segments<Kind::kSum>, {}, "?1"},
    {"SparseSegmentMean", 3, 3, SparseSegments<Kind::kMean>, {}, "?11"},
    {"SparseSegmentMeanWithNumSegments", 4, 4, SparseSegments<Kind::kMean>, {}, "?11"},
    {"SparseSegmentSqrtN", 3, 3, SparseSegments<Kind::kSqrtN>, {}, "?11"},
    {"SparseSegmentSqrtNWithNumSegments", 4, 4, SparseSegments<Kind::kSqrtN>, {}, "?11"},
    {"SparseSegmentSum", 3, 3, SparseSegments<Kind::kSum>, {}, "?11"},
    {"SparseSegmentSumWithNumSegments", 4, 4, SparseSegments<Kind::kSum>, {}, "?11"},
    {"UnsortedSegmentMax", 3, 3, Unsorted<Kind::kMax>},
    {"UnsortedSegmentMin", 3, 3, Unsorted<Kind::kMin>},
    {"UnsortedSegmentProd", 3, 3, Unsorted<Kind::kProd>},
    {"UnsortedSegmentSum", 3, 3, OfParts<Unsorted<Kind::kSum>>},
};

}  // namespace

std::span<const OperatorDef> SegmentOperators() { return kSegmentOperators; }

}  // namespace relayvm::import::tensorflow
