// Orders: sorts, the greatest, medians, unique elements, places among sorted numbers.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

struct Sorted {
  Term values, places;
};
// All elements along an axis, in order; equal ones stay in theirs.
Sorted InOrder(const Term& x, int axis, bool descending) {
  TypedBuilder& b = x.b();
  const Value v = x.dtype() == DType::kBool ? b.Cast(x, DType::kUInt8) : x.value();
  const std::vector<Value> both = b.Ops("topk", {v},
                                        {{"axis", axis},
                                         {"k", AttrList{0}},
                                         {"is_ascend", !descending},
                                         {"dtype", "int64"},
                                         {"ret_type", "both"}});
  if (both.size() < 2) return {x, x};
  return {Term(b, both[0]).As(x.dtype()), {b, both[1]}};
}

Results Sort(Call& n) {
  const Term x(n, 0);
  if (x.rank() == 0) {
    if (n.name() == "aten::argsort") return {n.b().Int(0)};
    if (n.name() == "aten::msort") return {x};
    return {x, n.b().Int(0)};
  }
  const int axis = n.name() == "aten::msort" ? 0 : n.Axis("dim", x.rank(), -1);
  if (!n.b().status().ok()) return {};
  const Sorted s = InOrder(x, axis, n.Bool("descending"));
  if (n.name() == "aten::argsort") return {s.places};
  if (n.name() == "aten::msort") return {s.values};
  return {s.values, s.places};
}

Results TopK(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (given.rank() == 0) return {given, b.Int(0)};
  const int axis = n.Axis("dim", given.rank(), -1);
  if (!b.status().ok()) return {};
  const Value x = given;
  Attrs attrs;
  attrs.Set("axis", axis);
  attrs.Set("is_ascend", !n.Bool("largest", true));
  attrs.Set("dtype", "int64");
  attrs.Set("ret_type", "both");
  const auto k = n.KnownInt("k");
  std::vector<Value> both;
  if (k) {
    if (*k < 0) return n.Fail("k: {}, expected 0 or more", *k);
    if (x.dim(axis).is_const() && *k > x.dim(axis).value())
      return n.Fail("k: {}, the extent is {}", *k, x.dim(axis).value());
    if (*k == 0) {
      const Value none = given.Slice(axis, 0, 0);
      return {none, b.Cast(none, DType::kInt64)};
    }
    attrs.Set("k", AttrList{*k});
    both = b.Fields(b.Op("topk", {x}, attrs));
  } else {
    attrs.Set("below_one_is_none", true);
    const Term count(b, n.SymInt("k"));
    const Term most =
        FollowsFromDims(b, count)
            ? count
            : AsScalar(Checked({b, count, "k"}, count, 0, Term(b, b.DimOf(x, axis)) + 1));
    both = b.Fields(b.Op("dyn.topk", {x, most}, attrs));
  }
  if (both.size() < 2) return {};
  return {both[0], both[1]};
}

// Element `place` (0-based) of the sorted axis, and where it stands.
Results Nth(const Call& n, const Sorted& s, const Term& place, int axis) {
  TypedBuilder& b = n.b();
  const auto pick = [&](const Term& v) {
    const Value y = v.Take(AsScalar(place), axis);
    return n.Bool("keepdim") ? b.ExpandDims(y, axis) : y;
  };
  return {pick(s.values), pick(s.places)};
}
Results KthValue(Call& n) {
  const Term x(n, 0);
  if (x.rank() == 0) return {x, n.b().Int(0)};
  const int axis = n.Axis("dim", x.rank(), -1);
  if (!n.b().status().ok()) return {};
  return Nth(n, InOrder(x, axis, false), Term(n, n.SymInt("k")) - 1.0, axis);
}
// The lower one of two.
Results Median(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  const bool all = n.schema().Find("dim") < 0;
  const Term x = all ? given.Reshape({-1}) : given;
  if (x.rank() == 0) return {x, b.Int(0)};
  const int axis = all ? 0 : n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  Term count = Extent(b, x, axis) - 1.0;
  const bool skips = n.name() == "aten::nanmedian";
  if (skips && x.rank() > 1) {
    // Each row has a place of its own.
    const Sorted s = InOrder(x, axis, false);
    const Term numbers = Not(x.Call("isnan")).As(DType::kInt64).Over("sum", {axis}) - 1.0;
    const Term place = Maximum(numbers, numbers.Number(0)).Call("floor_divide", numbers.Number(2));
    const auto pick = [&](const Value& v) {
      const Value y = Term(b, v).Call("gather", place, {{"axis", axis}});
      return n.Bool("keepdim") ? y : b.Squeeze(y, {axis});
    };
    return {pick(s.values), pick(s.places)};
  }
  if (skips) count = AsScalar(Not(x.Call("isnan")).As(DType::kInt64).Over("sum", {0}, false)) - 1.0;
  const Results both =
      Nth(n, InOrder(x, axis, false), count.Call("floor_divide", count.Number(2)), axis);
  Results out = all ? Results{both[0]} : both;
  if (!skips && IsFloat(x.dtype())) {
    // NaN of any element is the result.
    const Term bad = x.Call("isnan").Over("any", {axis}, n.Bool("keepdim"));
    out[0] = Select(bad, x.Number(NAN), Term(n, out[0].value));
    if (!all) {
      const Term first =
          x.Call("isnan")
              .As(DType::kInt8)
              .Call("argmax", {{"axis", AttrList{axis}}, {"keepdims", n.Bool("keepdim")}});
      out[1] = Select(bad, first.As(DType::kInt64), Term(n, out[1].value));
    }
  }
  return out;
}
// What stands there most often; of several the least.
Results Mode(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() == 0) return {x, b.Int(0)};
  const int axis = n.Axis("dim", x.rank(), -1), last = x.rank() - 1;
  if (!b.status().ok()) return {};
  const Term rows = x.Transpose(AxisMoved(x.rank(), axis, last));
  const Sorted s = InOrder(rows, last, false);
  const Term same = Equal(s.values.Expand(last + 1), s.values.Expand(last)).As(DType::kInt64);
  const Term count = same.Over("sum", {last + 1}, false);
  const Term best = count.Call("argmax", {{"axis", AttrList{last}}, {"keepdims", true}});
  const Term value = s.values.Call("gather", best.As(DType::kInt64), {{"axis", last}});
  const Term at = Range(Extent(b, rows, last));
  const Term place = Select(Equal(rows, value), at, at.Number(-1)).Over("max", {last});
  const auto back = AxisMoved(x.rank(), last, axis);
  const auto finish = [&](const Term& v) {
    const Value y = v.Transpose(back);
    return n.Bool("keepdim") ? y : b.Squeeze(y, {axis});
  };
  return {finish(value), finish(place)};
}

// Of what is not NaN, which each row has its own number of: the last of what is sorted.
Results QuantileOfNumbers(const Call& n, const Term& given, const Term& q, int axis,
                          const std::string& how) {
  TypedBuilder& b = n.b();
  const int last = given.rank() - 1;
  const Term x = given.Transpose(AxisMoved(given.rank(), axis, last));
  const Sorted s = InOrder(x, last, false);
  const Term count = Not(x.Call("isnan")).As(x.dtype()).Over("sum", {last});
  const Term place = Maximum(count - 1.0, count.Number(0)) * AsVector(q);  // (.., quantiles)
  const Term below = Floor(place), above = place.Call("ceil");
  const auto at = [&](const Term& where) {
    return Term(b, s.values).Call("gather", where.As(DType::kInt64), {{"axis", last}});
  };
  Term y = at(how == "higher" ? above : how == "nearest" ? place.Call("round_even") : below);
  if (how == "linear") y = y + (place - below) * (at(above) - y);
  if (how == "midpoint") y = y + (at(above) - y) * 0.5;
  // Quantiles stand along the first axis.
  Value out = b.Transpose(y, AxisMoved(given.rank(), last, 0));
  const bool keeps = n.Bool("keepdim"), all = !n.Has("dim");
  if (keeps) out = b.ExpandDims(out, all ? 1 : axis + 1, all ? n.Input(0).rank() : 1);
  if (q.rank() == 0) out = b.Squeeze(out, {0});
  return {out};
}
Results Quantile(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  const bool all = !n.Has("dim");
  const Term x = all ? given.Reshape({-1}) : given;
  const int axis = all ? 0 : n.Axis("dim", x.rank());
  const std::string how = n.String("interpolation", "linear");
  if (!b.status().ok()) return {};
  const Argument& argument = n.Arg("q");
  const Term q(b,
               argument.is_tensor() ? b.Cast(argument.value, x.dtype()) : n.Number("q", x.dtype()));
  if (q.rank() > 1) return n.Fail("q: expected rank 0 or 1");
  if (n.name() == "aten::nanquantile") return QuantileOfNumbers(n, x, q, axis, how);
  const Sorted s = InOrder(x, axis, false);
  const Term place = q * (Extent(b, x, axis) - 1.0).As(x.dtype());
  const Term below = Floor(place), above = place.Call("ceil");
  const auto at = [&](const Term& where) { return s.values.Take(where.As(DType::kInt64), axis); };
  const int rank = x.rank() + q.rank() - 1;
  Term weight = q.rank() == 0 ? place - below : Along(place - below, axis, rank);
  Term y = at(below);
  if (how == "linear") y = y + weight * (at(above) - y);
  if (how == "higher") y = at(above);
  if (how == "nearest") y = at(place.Call("round_even"));
  if (how == "midpoint") y = y + (at(above) - y) * 0.5;
  const Term bad = x.Call("isnan").Over("any", {axis});
  // NaN of any element is the result; quantiles stand along the first axis.
  const Term broken = q.rank() == 0 ? Term(b, b.Squeeze(bad, {axis})) : bad;
  if (n.name() == "aten::quantile") y = Select(broken, y.Number(NAN), y);
  Value out = q.rank() == 0 ? y.value() : b.Transpose(y, AxisMoved(rank, axis, 0));
  if (n.Bool("keepdim")) {
    if (!all) return {b.ExpandDims(out, axis + q.rank())};
    return {b.ExpandDims(out, q.rank(), given.rank())};
  }
  return {out};
}

// --- Unique elements ---

Value FirstOf(TypedBuilder& b, const Value& padded, const Value& number) {
  return b.Op("dyn.strided_slice",
              {padded, b.Ints({0}), b.Cast(b.Reshape(number, {1}), DType::kInt64), b.Ints({1})});
}
// values, inverse, counts.
Results Unique(Call& n) {
  TypedBuilder& b = n.b();
  const Value given = n.Input(0);
  const bool is_bool = given.dtype() == DType::kBool;
  const Value x = b.Reshape(is_bool ? b.Cast(given, DType::kInt32) : given, {-1});
  const std::vector<Value> all = b.Ops("unique", {x}, {{"sorted", true}, {"return_counts", true}});
  if (all.size() < 5) return {};
  const Value none = b.Full({0}, 0, DType::kInt64);
  const bool wants_inverse = n.Bool("return_inverse"), wants_counts = n.Bool("return_counts");
  return {b.Cast(FirstOf(b, all[0], all[3]), given.dtype()),
          wants_inverse ? ShapedLike(b, b.Cast(all[2], DType::kInt64), given) : none,
          wants_counts ? b.Cast(FirstOf(b, all[4], all[3]), DType::kInt64) : none};
}
Results UniqueAlong(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const Term rows = x.Transpose(AxisMoved(x.rank(), axis, 0));
  const std::vector<Value> all = b.Ops("unique_rows", {rows}, {{"sorted", true}});
  if (all.size() < 4) return {};
  const Term first = Term(b, FirstOf(b, all[0], all[2])).As(DType::kInt64);
  return {x.Take(first, axis), b.Cast(all[1], DType::kInt64),
          b.Cast(FirstOf(b, all[3], all[2]), DType::kInt64)};
}
// Of neighbours that are equal the first.
Results UniqueConsecutive(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (n.Has("dim") && given.rank() > 1) return n.Unsupported("along a dim");
  const Term x = given.Reshape({-1});
  const Term differs = x.Slice(0, 1, INT64_MAX).Call("not_equal", x.Slice(0, 0, -1));
  const Term head = x.Slice(0, 0, 1).Call("ones_like").As(DType::kBool);
  const Term begins(b, b.Concat({head, differs}, 0));
  const Term places = begins.Call("argwhere").As(DType::kInt64).Reshape({-1});
  const Term inverse = begins.As(DType::kInt64).Call("cumsum", {{"axis", 0}}) - 1.0;
  const Term ends(b, b.Concat({places.Slice(0, 1, INT64_MAX), b.DimOf(x, 0)}, 0));
  return {x.Take(places, 0), ShapedLike(b, inverse, given), ends - places};
}

// --- Places ---

Results SearchSorted(Call& n) {
  TypedBuilder& b = n.b();
  const bool buckets = n.name() == "aten::bucketize";
  Value sequence = n.Tensor(buckets ? "boundaries" : "sorted_sequence");
  const Argument& values = n.Arg("self");
  const std::array<Argument, 2> both = {sequence, values};
  const DType t = ResultType(both);
  if (n.Has("sorter"))
    sequence = n.ValueAs("aten::gather", {sequence, Argument::Int(-1), n.Arg("sorter")});
  const bool right = n.Bool("right") || n.String("side", "left") == "right";
  Value v = values.is_tensor() ? b.Cast(values.value, t) : ScalarValue(b, values, t);
  const bool scalar = v.rank() == 0;
  if (scalar) v = b.Reshape(v, {1});
  const std::string dtype = n.Bool("out_int32") ? "int32" : "int64";
  const Value y =
      b.Op("searchsorted", {b.Cast(sequence, t), v}, {{"right", right}, {"dtype", dtype}});
  return {scalar ? b.Reshape(y, {}) : y};
}

Results BinCount(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).As(DType::kInt64);
  // None of an empty tensor.
  const Term none(b, b.Ints({-1}));
  const Term most = AsScalar(Term(b, b.Concat({x, none}, 0)).Over("max", {0}, false)) + 1.0;
  const Term least(b, n.SymInt("minlength"));
  const Value size = b.Reshape(Maximum(most, least), {1});
  const bool weighted = n.Has("weights");
  Value weights = weighted ? n.Tensor("weights") : b.Op("ones_like", {x});
  if (weighted && !IsFloat(weights.dtype())) weights = b.Cast(weights, DType::kFloat64);
  return {b.Op("scatter_elements", {Filled(b, 0, weights.dtype(), size), x, weights},
               {{"axis", 0}, {"reduction", "add"}})};
}

Results Histogram(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Real(n).Reshape({-1});
  const int64_t bins = n.Int("bins", 100);
  double low = n.Float("min"), high = n.Float("max");
  Term least = x.Number(low), most = x.Number(high);
  if (low == high) {
    least = AsScalar(x.Over("min", {0}, false));
    most = AsScalar(x.Over("max", {0}, false));
    const Term same = Equal(least, most);
    least = Select(same, least - 1.0, least);
    most = Select(same, most + 1.0, most);
  }
  const Term place = Floor((x - least) / (most - least) * static_cast<double>(bins));
  const Term last = place.Number(static_cast<double>(bins - 1));
  const Term inside = And(x >= least, x <= most);
  const Term at = Clamp(place, place.Number(0), last).As(DType::kInt64);
  return {b.Op("scatter_elements",
               {b.Full({bins}, 0, x.dtype()), at, Select(inside, x.Number(1), x.Number(0))},
               {{"axis", 0}, {"reduction", "add"}})};
}

Results IsIn(Call& n) {
  TypedBuilder& b = n.b();
  const Argument &elements = n.Arg(size_t{0}), &tests = n.Arg(size_t{1});
  const DType t = ResultType(std::array<Argument, 2>{elements, tests});
  const Term x = Operand(n, 0, t), y = Operand(n, 1, t);
  const Term flat = y.Reshape({-1});
  const Term hit = Equal(x.Expand(x.rank()), flat).Over("any", {x.rank()}, false);
  static_cast<void>(b);
  return {n.Bool("invert") ? Not(hit) : hit};
}

constexpr OperatorDef kSortOperators[] = {
    {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
     "indices)",
     Sort},
    {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
     "(Tensor values, Tensor indices)",
     Sort},
    {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", Sort},
    {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
     "Tensor",
     Sort},
    {"aten::msort(Tensor self) -> Tensor", Sort},
    {"aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
     "values, Tensor indices)",
     TopK},
    {"aten::kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
     "indices)",
     KthValue},
    {"aten::median(Tensor self) -> Tensor", Median},
    {"aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
     "indices)",
     Median},
    {"aten::nanmedian(Tensor self) -> Tensor", Median},
    {"aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
     "indices)",
     Median},
    {"aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
     Mode},
    {"aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     Quantile},
    {"aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     Quantile},
    {"aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     Quantile},
    {"aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     Quantile},
    {"aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
     "return_counts=False) -> (Tensor, Tensor, Tensor)",
     Unique},
    {"aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
     Unique},
    {"aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
     "return_counts=False) -> (Tensor, Tensor, Tensor)",
     UniqueAlong},
    {"aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
     "int? dim=None) -> (Tensor, Tensor, Tensor)",
     UniqueConsecutive},
    {"aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
     "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     SearchSorted},
    {"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
     "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     SearchSorted},
    {"aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool "
     "right=False) -> Tensor",
     SearchSorted},
    {"aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool "
     "right=False) -> Tensor",
     SearchSorted},
    {"aten::bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", BinCount},
    {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", Histogram},
    {"aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     IsIn},
    {"aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     IsIn},
    {"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     IsIn},
};

}  // namespace

OperatorTable SortOperators() { return kSortOperators; }

}  // namespace relayvm::import::torch
