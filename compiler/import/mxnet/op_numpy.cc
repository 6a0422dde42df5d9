// Operators of the numpy interface that are no other's, and small ones of contrib.
#include <algorithm>
#include <cmath>

#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

// The first `count` (int64, rank 1) of a vector.
Term First(const Term& v, const Term& count) {
  TypedBuilder& b = v.b();
  return {b, b.Op("dyn.strided_slice", {v, b.Ints({0}), count, b.Ints({1})})};
}

// The different elements in order; where asked for the first place of each, which one each element
// is, and how often.
Outputs Unique(Node& n) {
  TypedBuilder& b = n.b();
  if (n.HasAttr("axis") && n.Input(0).rank() != 1) return n.Unsupported("attribute axis");
  const Term x = Term(n, 0).Reshape({-1});
  const bool counts = n.Bool("return_counts", false);
  const std::vector<Value> found =
      b.Ops("unique", {x}, {{"sorted", true}, {"return_counts", counts}});
  if (found.size() < 4) return {};
  const Term count = Term(b, found[3]).As(DType::kInt64).Reshape({1});
  Outputs out = {First({b, found[0]}, count)};
  if (n.Bool("return_index", false))
    out.push_back(First(Term(b, found[1]).As(DType::kInt64), count));
  if (n.Bool("return_inverse", false)) out.push_back(Term(b, found[2]).As(DType::kInt64));
  if (counts) out.push_back(First(Term(b, found[4]).As(DType::kInt64), count));
  return out;
}

// How often each whole number occurs, or the sum of its weights.
Outputs BinCount(Node& n) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).As(DType::kInt64);
  if (!n.ExpectRank(x, 1, "data")) return {};
  const Term least(b, b.Int(n.Count("minlength", 0)));
  // -1 stands for there being none.
  const Term none(b, b.Ints({-1}));
  const Term greatest = Term(b, b.Concat({x, none}, 0)).Over("max", {0}, false);
  const Term bins = Maximum(greatest + 1, least);
  const Term same = Equal(Range(bins).Expand(1), x.Expand(0));
  if (n.Bool("has_weights", false) && n.Has(1)) {
    const Term w = AsReal(Term(n, 1));
    return {Select(same, w.Expand(0), w.Number(0)).Over("sum", {1}, false)};
  }
  return {same.As(DType::kInt64).Over("sum", {1}, false).As(n.Input(0).dtype())};
}

// Counts of elements between edges, and the edges.
Outputs Histogram(Node& n) {
  TypedBuilder& b = n.b();
  const Term x = AsReal(Term(n, 0)).Reshape({-1});
  std::optional<Term> edges;
  if (const auto bins = n.MaybeInt("bin_cnt")) {
    const std::vector<double> range = n.Floats("range");
    constexpr int64_t kMost = 1 << 20;
    if (range.size() != 2 || *bins < 1 || *bins > kMost)
      return n.Fail("expected bin_cnt above 0 and a range of two numbers");
    std::vector<double> at;
    for (int64_t i = 0; i <= *bins; ++i)
      at.push_back(range[0] +
                   (range[1] - range[0]) * static_cast<double>(i) / static_cast<double>(*bins));
    edges = Table(b, at, {*bins + 1}).As(x.dtype());
  } else {
    if (!n.Has(1) || !n.ExpectRank(n.Input(1), 1, "bins")) return n.Fail("expected bins");
    edges = Term(n, 1).As(x.dtype());
  }
  // The last bin has its end too.
  const Term low = edges->Slice(0, 0, -1).Expand(1), high = edges->Slice(0, 1, INT64_MAX).Expand(1);
  const Term last = edges->Slice(0, -1, INT64_MAX).Expand(1);
  const Term inside = And(x.Expand(0) >= low,
                          Or(x.Expand(0) < high, And(Equal(high, last), Equal(x.Expand(0), last))));
  const DType given = n.Input(0).dtype();  // that of the edges too
  return {inside.As(DType::kInt64).Over("sum", {1}, false),
          edges->As(given == DType::kBool ? DType::kFloat32 : given)};
}

// --- Differences ---

Outputs Diff(Node& n) {
  Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const int64_t times = n.Count("n", 1);
  constexpr int64_t kMost = 1000;
  if (!n.b().status().ok()) return {};
  if (times > kMost) return n.Fail("attribute n: expected at most {}", kMost);
  for (int64_t i = 0; i < times; ++i) x = x.Slice(axis, 1, INT64_MAX) - x.Slice(axis, 0, -1);
  return {x};
}
Outputs EDiff1d(Node& n) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).Reshape({-1});
  std::vector<Value> parts = {x.Slice(0, 1, INT64_MAX) - x.Slice(0, 0, -1)};
  size_t next = 1;
  const auto end = [&](const char* given, const char* scalar) -> std::optional<Value> {
    if (n.Bool(given, false) && n.Has(next)) return Term(n, next++).As(x.dtype()).Reshape({-1});
    if (const auto v = n.MaybeFloat(scalar)) return x.Number(*v).Reshape({1});
    return std::nullopt;
  };
  if (const auto first = end("to_begin_arr_given", "to_begin_scalar"))
    parts.insert(parts.begin(), *first);
  if (const auto last = end("to_end_arr_given", "to_end_scalar")) parts.push_back(*last);
  return {b.Concat(parts, 0)};
}

// --- Inserted and deleted ---

// The data flat where there is no axis, and an index from the front, which may be the end.
struct Cut {
  Term x;
  int axis;
};
Cut CutOf(Node& n) {
  const Term x(n, 0);
  if (!n.HasAttr("axis")) return {x.Reshape({-1}), 0};
  return {x, n.Axis(n.Int("axis", 0), x.rank())};
}
// Values before an index.
Outputs Insert(Node& n) {
  TypedBuilder& b = n.b();
  const Cut cut = CutOf(n);
  const auto at = n.MaybeInt("int_ind");
  if (!at) return n.Unsupported("only one index, int_ind, is supported");
  if (!b.status().ok()) return {};
  const auto written = n.MaybeFloat("val");
  Term values = n.Has(1) ? Term(n, 1).As(cut.x.dtype()) : cut.x.Number(written.value_or(0));
  if (!n.Has(1) && !written) return n.Fail("expected values");
  if (values.rank() > cut.x.rank()) return n.Fail("the values have more dims than the data");
  values = values.Expand(0, cut.x.rank() - values.rank());
  std::vector<Value> dims = DimsOf(b, cut.x, 0, cut.x.rank());
  dims[static_cast<size_t>(cut.axis)] = b.DimOf(values, cut.axis);
  return {b.Concat({cut.x.Slice(cut.axis, 0, *at), BroadcastTo(b, values, dims),
                    cut.x.Slice(cut.axis, *at, INT64_MAX)},
                   cut.axis)};
}
// Without one index, or without those of a slice.
Outputs Delete(Node& n) {
  const Cut cut = CutOf(n);
  if (n.num_inputs() > 1) return n.Unsupported("indices that are an input");
  if (!n.b().status().ok()) return {};
  const auto at = n.MaybeInt("int_ind");
  if (!at && n.MaybeInt("step").value_or(1) != 1) return n.Unsupported("a slice with a step");
  const int64_t from = at ? *at : n.MaybeInt("start").value_or(0);
  const int64_t to = !at ? n.MaybeInt("stop").value_or(INT64_MAX) : *at == -1 ? INT64_MAX : *at + 1;
  return {n.b().Concat({cut.x.Slice(cut.axis, 0, from), cut.x.Slice(cut.axis, to, INT64_MAX)},
                       cut.axis)};
}

// --- Percentiles ---

Outputs Percentile(Node& n) {
  TypedBuilder& b = n.b();
  const Term x = AsReal(Term(n, 0));
  std::vector<int64_t> axes = n.Axes(n.Ints("axis"), x.rank()), rest;
  if (axes.empty()) axes = Iota(x.rank());
  if (!b.status().ok()) return {};
  for (int64_t i = 0; i < x.rank(); ++i)
    if (std::ranges::find(axes, i) == axes.end()) rest.push_back(i);
  std::vector<Value> dims;
  for (const int64_t axis : rest) dims.push_back(b.DimOf(x, static_cast<int>(axis)));
  std::vector<int64_t> order = rest;
  order.insert(order.end(), axes.begin(), axes.end());
  std::vector<Value> flat = dims;
  flat.push_back(b.Ints({-1}));
  const int last = static_cast<int>(rest.size());
  const Term sorted = Term(b, ShapedAs(b, x.Transpose(order), flat)).Call("sort", {{"axis", last}});
  const auto scalar = n.MaybeFloat("q_scalar");
  if (!scalar && !n.Has(1)) return n.Fail("expected percentiles");
  const Term q =
      scalar ? Term(b, b.Scalar(*scalar, DType::kFloat64)) : Term(n, 1).As(DType::kFloat64);
  const Term at = (Extent(b, sorted, last) - 1).As(DType::kFloat64) * q / 100;
  const std::string way =
      n.Choice("interpolation", "linear", {"linear", "lower", "higher", "midpoint", "nearest"});
  const auto take = [&](const Term& where) { return sorted.Take(where.As(DType::kInt64), last); };
  const Term below = take(Floor(at)), above = take(at.Call("ceil"));
  Term y = below;
  if (way == "higher") y = above;
  if (way == "midpoint") y = (below + above) / 2;
  if (way == "nearest") y = take(at.Call("round_even"));
  if (way == "linear") y = below + (above - below) * (at - Floor(at)).As(x.dtype());
  // The percentiles come first.
  for (int i = 0; i < q.rank(); ++i) y = y.Transpose(AxisMoved(y.rank(), y.rank() - 1, 0));
  if (!n.Bool("keepdims", false)) return {y};
  for (const int64_t axis : axes) y = y.Expand(static_cast<int>(axis) + q.rank());
  return {y};
}

// p[0] x^(n-1) + .. + p[n-1]
Outputs PolyVal(Node& n) {
  const Term p(n, 0), x(n, 1);
  if (!n.ExpectRank(p, 1, "p")) return {};
  const Dim count = p.value().dim(0);
  constexpr int64_t kMost = 1000;
  if (!count.is_const() || count.value() > kMost || count.value() < 1)
    return n.Unsupported("the number of coefficients must be known, 1 to {}", kMost);
  Term y = x * 0.0;
  for (int64_t i = 0; i < count.value(); ++i) y = y * x + p.Slice(0, i, i + 1).Reshape({});
  return {y};
}
// The index of the diagonal, once for each axis.
Outputs DiagonalIndices(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  std::vector<Value> rows(static_cast<size_t>(x.rank()), b.ExpandDims(RangeOf(b, x, 0), 0));
  return rows.empty() ? n.Fail("expected data of rank 1 or more") : Outputs{b.Concat(rows, 0)};
}

// --- Checks of training ---

// 1 where all elements of all inputs are finite.
Outputs AllFinite(Node& n) {
  std::optional<Term> all;
  for (const Value& v : n.inputs()) {
    const Term own = AsReal(Term(n.b(), v)).Call("isfinite").Call("all");
    all = all ? And(*all, own) : own;
  }
  return {all->As(DType::kFloat32).Reshape({1})};
}
Outputs SumsOfSquares(Node& n) {
  std::vector<Value> sums;
  for (const Value& v : n.inputs()) {
    const Term x = Term(n.b(), v).As(DType::kFloat32);
    sums.push_back((x * x).Over("sum", Iota(x.rank()), false).Reshape({1}));
  }
  return {n.b().Concat(sums, 0)};
}
// What holds, or the program fails.
Outputs ConstraintCheck(Node& n) { return {IsTrue(Term(n, 0)).Call("all")}; }

// What a buffer holds, moved by the data, which comes in at its end.
Outputs FifoBuffer(Node& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank());
  return {n.b().Op("nn.fifo_buffer", {n.Input(0), n.Input(1)}, {{"axis", axis}})};
}

Outputs CastStorage(Node& n) {
  const std::string kind = n.Text("stype", "default");
  return kind == "default" ? Outputs{n.Input(0)} : n.Unsupported("sparse tensors ({})", kind);
}

constexpr OperatorDef kNumpyOperators[] = {
    {"_histogram _npi_histogram", 1, 2, Histogram},
    {"_npi_bincount", 1, 2, BinCount},
    {"_npi_delete", 1, 2, Delete},
    {"_npi_diag_indices_from", 1, 1, DiagonalIndices},
    {"_npi_diff", 1, 1, Diff},
    {"_npi_ediff1d", 1, 3, EDiff1d},
    {"_npi_insert_scalar", 1, 2, Insert},
    {"_npi_percentile", 1, 2, Percentile},
    {"_npi_polyval", 2, 2, PolyVal},
    {"_npi_unique", 1, 1, Unique},
    {"_npx_constraint_check", 1, 1, ConstraintCheck},
    {"all_finite multi_all_finite", 1, -1, AllFinite},
    {"cast_storage", 1, 1, CastStorage},
    {"contrib_fifo_buffer ring_buffer", 2, 2, FifoBuffer},
    {"multi_sum_sq", 1, -1, SumsOfSquares},
};

}  // namespace

std::span<const OperatorDef> NumpyOperators() { return kNumpyOperators; }

}  // namespace relayvm::import::mxnet
