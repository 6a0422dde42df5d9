// Views that are copies by their names, and rarer operators made of others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

// "aten::select_copy" gives what "aten::select" does.
Results CopyOf(Call& n) {
  constexpr std::string_view kEnd = "_copy";
  std::string name(n.name().substr(0, n.name().size() - kEnd.size()));
  if (!n.overload().empty()) name += fmt::format(".{}", n.overload());
  std::vector<Argument> arguments;
  for (size_t i = 0; i < n.size() && !n.schema().arguments[i].keyword_only; ++i)
    arguments.push_back(n.Arg(i));
  return n.As(name, std::move(arguments), n.expected());
}

template <DType kDType>
Results CastNamed(Call& n) {
  return n.As("aten::to.dtype", {n.Arg(size_t{0}), Argument::Int(TorchOfDType(kDType))});
}

Results CumulativeTrapezoid(Call& n) {
  TypedBuilder& b = n.b();
  const Term y = Real(n);
  const int axis = n.Axis("dim", y.rank(), -1);
  if (!b.status().ok()) return {};
  const Term pairs = (y.Slice(axis, 1, INT64_MAX) + y.Slice(axis, 0, -1)) * 0.5;
  Term areas = pairs;
  if (n.Has("x")) {
    Term x(n, n.Tensor("x"));
    if (x.rank() == 1) x = Along(x, axis, y.rank());
    const int at = x.rank() == y.rank() ? axis : x.rank() - 1;
    areas = pairs * (x.Slice(at, 1, INT64_MAX) - x.Slice(at, 0, -1)).As(pairs.dtype());
  } else {
    areas = pairs * n.Float("dx", 1);
  }
  return {areas.Call("cumsum", {{"axis", axis}})};
}

// Sets of r of a vector's elements, by places that rise, or do not fall with replacement.
Results Combinations(Call& n) {
  TypedBuilder& b = n.b();
  constexpr int64_t kMost = 6;
  const Term x(n, 0);
  const int64_t count = n.Int("r", 2);
  if (x.rank() != 1 || count < 0) return n.Fail("expected a vector, and r of 0 or more");
  if (count > kMost) return n.Unsupported("r above 6 is not supported");
  if (count == 0) return {Filled(b, 0, x.dtype(), b.Ints({0}))};
  if (count == 1) return {x.Expand(1)};
  const Term at = RangeOf(b, x, 0);
  const bool twice = n.Bool("with_replacement");
  const int rank = static_cast<int>(count);
  std::optional<Term> kept;
  for (int i = 0; i + 1 < rank; ++i) {
    const Term first = Along(at, i, rank), second = Along(at, i + 1, rank);
    const Term rises = twice ? first <= second : first < second;
    kept = kept ? And(*kept, rises) : rises;
  }
  return {x.Take(kept->Call("argwhere").As(DType::kInt64), 0)};
}

// Differences of neighbours, over two steps inside; at the edges over one, or of the parabola of
// three. Steps are numbers, or places of the elements.
Term GradientAlong(const Call& n, const Term& x, int axis, const std::optional<Term>& step,
                   bool parabola) {
  TypedBuilder& b = n.b();
  const auto part = [&](int64_t from, int64_t to) { return x.Slice(axis, from, to); };
  const Term one = step ? *step : x.Number(1);
  if (one.rank() == 1) {
    const Term gaps =
        Along((one.Slice(0, 1, INT64_MAX) - one.Slice(0, 0, -1)).As(x.dtype()), axis, x.rank());
    const Term before = gaps.Slice(axis, 0, -1), after = gaps.Slice(axis, 1, INT64_MAX);
    const Term rises = (part(1, INT64_MAX) - part(0, -1)) / gaps;
    const Term low = rises.Slice(axis, 0, -1), high = rises.Slice(axis, 1, INT64_MAX);
    const Term inside = (low * after + high * before) / (before + after);
    Term first = rises.Slice(axis, 0, 1), last = rises.Slice(axis, -1, INT64_MAX);
    if (parabola) {
      const Term bend = (high - low) / (before + after);
      first = first - bend.Slice(axis, 0, 1) * gaps.Slice(axis, 0, 1);
      last = last + bend.Slice(axis, -1, INT64_MAX) * gaps.Slice(axis, -1, INT64_MAX);
    }
    return {b, b.Concat({first, inside, last}, axis)};
  }
  const Term by = one.As(x.dtype());
  const Term inside = (part(2, INT64_MAX) - part(0, -2)) / (by * 2);
  Term first = part(1, 2) - part(0, 1), last = part(-1, INT64_MAX) - part(-2, -1);
  if (parabola) {
    first = part(0, 1) * -1.5 + part(1, 2) * 2 - part(2, 3) * 0.5;
    last = part(-1, INT64_MAX) * 1.5 - part(-2, -1) * 2 + part(-3, -2) * 0.5;
  }
  return {b, b.Concat({first / by, inside, last / by}, axis)};
}
Results Gradient(Call& n) {
  const Term x = Real(n);
  std::vector<int64_t> axes = n.Ints("dim");
  if (!n.Has("dim")) axes = Iota(x.rank());
  const int64_t order = n.Int("edge_order", 1);
  if (order != 1 && order != 2) return n.Fail("edge_order: {}, expected 1 or 2", order);
  std::vector<Argument> steps;
  const Argument& spacing = n.Arg("spacing");
  if (spacing.is_list()) {
    steps = spacing.items;
  } else if (!spacing.is_none()) {
    steps.assign(axes.size(), spacing);
  }
  if (!steps.empty() && steps.size() != axes.size())
    return n.Fail("spacing: {} for {} axes", steps.size(), axes.size());
  std::vector<Value> out;
  for (size_t i = 0; i < axes.size() && n.b().status().ok(); ++i) {
    std::optional<Term> step;
    if (!steps.empty())
      step = steps[i].is_tensor() ? Term(n, steps[i].value)
                                  : Term(n, ScalarValue(n, steps[i], x.dtype()));
    out.push_back(GradientAlong(n, x, AxisIn(n, axes[i], x.rank()), step, order == 2));
  }
  return {Argument::Tensors(out)};
}

// Elements of a storage in its order, of which some are replaced.
Results AsStridedScatter(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const Value at = b.Op("arange", {b.Int(0), b.Reshape(CountOfElements(b, x), {}), b.Int(1)},
                        {{"dtype", "int64"}});
  const Value places = n.ValueAs(
      "aten::as_strided", {ShapedLike(b, at, x), n.Arg("size"), n.Arg("stride"),
                           n.Has("storage_offset") ? n.Arg("storage_offset") : Argument::Int(0)});
  if (!b.status().ok()) return {};
  const Value flat = b.Op("scatter_elements",
                          {b.Reshape(x, {-1}), b.Reshape(places, {-1}),
                           b.Reshape(b.Cast(n.Tensor("src"), x.dtype()), {-1})},
                          {{"axis", 0}});
  return {ShapedLike(b, flat, x)};
}

// Powers of vectors' elements along a new axis, from 0 on.
Results Vandermonde(Call& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0), x = IsFloat(given.dtype()) ? given : given.As(DType::kInt64);
  if (x.rank() < 1) return n.Fail("expected vectors");
  const Term count = n.Has("N") ? Term(b, n.SymInt("N")) : Extent(b, x, x.rank() - 1);
  const Term ones = x.Expand(x.rank()) * 0.0 + 1.0;
  const Term power = Range(count - 1);
  const Term wide = x.Expand(x.rank()) + power.As(x.dtype()) * 0.0;
  const Value rest = b.Op("cumprod", {wide}, {{"axis", x.rank()}});
  return {b.Concat({ones, rest}, x.rank())};
}

Results IsReal(Call& n) { return {Term(n, 0).Call("ones_like").As(DType::kBool)}; }

// Columns by how often they were observed, and by how much they weigh.
Results WeightedCovariance(Call& n) {
  TypedBuilder& b = n.b();
  Term x = Real(n);
  const bool vector = x.rank() < 2 || x.value().dim(0).is_const(1);
  if (x.rank() < 2) x = x.Reshape({1, -1});
  Term weight = x.Slice(0, 0, 1).Call("ones_like").Reshape({-1}), share = weight;
  for (const char* name : {"fweights", "aweights"}) {
    if (!n.Has(name)) continue;
    const Term own = Term(b, n.Tensor(name)).As(x.dtype());
    weight = weight * own;
    if (name[0] == 'a') share = own;
  }
  const Term sum = AsScalar(weight.Over("sum", {0}, false));
  const Term gap = x - Sum(x * weight, {1}) / sum;
  Term less = x.Number(n.Float("correction", 1));
  if (n.Has("aweights")) less = AsScalar((weight * share).Over("sum", {0}, false)) / sum * less;
  const Term count = Maximum(sum - less, sum.Number(0));
  const Term y = Term(b, b.Op("nn.dense", {gap * weight, gap})) / count;
  return {vector ? y.Reshape({}) : y};
}
// Rows are variables, columns what was observed.
Results Covariance(Call& n) {
  TypedBuilder& b = n.b();
  if (n.Has("fweights") || n.Has("aweights")) return WeightedCovariance(n);
  Term x = Real(n);
  const bool vector = x.rank() < 2 || x.value().dim(0).is_const(1);
  if (x.rank() < 2) x = x.Reshape({1, -1});
  const Term gap = x - Mean(x, {1});
  const bool scaled = n.name() == "aten::corrcoef";
  const double correction = scaled ? 1 : n.Float("correction", 1);
  const Term count = (Extent(b, x, 1).As(DType::kFloat64) - correction).As(x.dtype());
  Term y = Term(b, b.Op("nn.dense", {gap, gap})) / count;
  if (scaled) {
    const Term deviation = Sqrt(Sum(gap * gap, {1}) / count);  // (variables, 1)
    y = y / (deviation * deviation.Transpose({1, 0}));
    y = y.Number(1).Call("minimum", y.Number(-1).Call("maximum", y));  // NaN stays
  }
  return {vector ? y.Reshape({}) : y};
}

Results SumToSize(Call& n) {
  Term x(n, 0);
  const std::vector<int64_t> sizes = n.Ints("size");
  const auto rank = static_cast<int>(sizes.size());
  if (rank > x.rank()) return n.Fail("more sizes than dims");
  const int more = x.rank() - rank;
  const bool reduces =
      more > 0 || !std::ranges::equal(sizes, x.value().shape(), [](int64_t s, const Dim& d) {
        return s != 1 || d.is_const(1);
      });
  if (reduces && !IsFloat(x.dtype())) x = x.As(DType::kInt64);
  if (more > 0) x = x.Over("sum", Iota(more), false);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (sizes[static_cast<size_t>(i)] == 1 && !x.value().dim(i).is_const(1)) axes.push_back(i);
  }
  return {axes.empty() ? x : Sum(x, axes)};
}

Results IntegerMatMul(Call& n) {
  const Term x = Term(n, 0).As(DType::kInt32), y = Term(n, 1).As(DType::kInt32);
  return n.As("aten::mm", {x, y});
}

// Places of what is not 0, as many as is said; what is missing is `fill_value`.
Results NonZeroStatic(Call& n) {
  TypedBuilder& b = n.b();
  const Value found = n.ValueAs("aten::nonzero", {n.Arg(size_t{0})});
  const int64_t size = n.Int("size");
  if (size < 0) return n.Fail("size: {}, expected 0 or more", size);
  const Value fill = b.Full({size, found.dim(1).is_const() ? found.dim(1).value() : 1},
                            static_cast<double>(n.Int("fill_value", -1)), DType::kInt64);
  return {Term(b, b.Concat({found, fill}, 0)).Slice(0, 0, size)};
}

// The next number towards another: codes of floats are in their order.
Results NextAfter(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  if (x.dtype() != DType::kFloat32) return n.Unsupported("of other than float32");
  const Term code = x.Call("reinterpret", {{"dtype", "int32"}});
  const Term away = Or(And(y > x, x > 0), And(y < x, x < 0));
  const Term moved =
      Select(away, code + 1.0, code - 1.0).Call("reinterpret", {{"dtype", "float32"}});
  const Term least = x.Number(1.401298464324817e-45);
  const Term off_zero = Select(y > 0, least, -least);
  const Term next = Select(Equal(x, 0.0), off_zero, moved);
  return {Select(Equal(x, y), y, Select(Or(x.Call("isnan"), y.Call("isnan")), x + y, next))};
}

Results OneHotOf(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto classes = n.KnownInt("num_classes");
  const Term at = x.As(DType::kInt64).Expand(x.rank());
  if (classes && *classes >= 0) return {Equal(at, PlacesOf(b, *classes)).As(DType::kInt64)};
  const Term most = classes ? x.As(DType::kInt64).Over("max", Iota(x.rank()), false) + 1.0
                            : Term(b, n.SymInt("num_classes"));
  return {Equal(at, Range(most)).As(DType::kInt64)};
}

constexpr OperatorDef kRestOperators[] = {
    {"aten::view_copy(Tensor self, int[] size) -> Tensor", CopyOf, Takes::kAll},
    {"aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", CopyOf},
    {"aten::_reshape_copy(Tensor self, int[] size) -> Tensor",
     [](Call& n) { return n.As("aten::view", {n.Arg(size_t{0}), n.Arg(size_t{1})}); }},
    {"aten::_reshape_alias_copy(Tensor self, int[] size, int[] stride) -> Tensor",
     [](Call& n) { return n.As("aten::view", {n.Arg(size_t{0}), n.Arg(size_t{1})}); }},
    {"aten::expand_copy(Tensor self, int[] size, *, bool implicit=False) -> Tensor", CopyOf,
     Takes::kAll},
    {"aten::permute_copy(Tensor self, int[] dims) -> Tensor", CopyOf, Takes::kAll},
    {"aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", CopyOf, Takes::kAll},
    {"aten::t_copy(Tensor self) -> Tensor", CopyOf, Takes::kAll},
    {"aten::unsqueeze_copy(Tensor self, int dim) -> Tensor", CopyOf, Takes::kAll},
    {"aten::squeeze_copy(Tensor self) -> Tensor", CopyOf, Takes::kAll},
    {"aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor", CopyOf, Takes::kAll},
    {"aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", CopyOf, Takes::kAll},
    {"aten::select_copy.int(Tensor self, int dim, int index) -> Tensor", CopyOf, Takes::kAll},
    {"aten::slice_copy.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) "
     "-> Tensor",
     CopyOf, Takes::kAll},
    {"aten::narrow_copy(Tensor self, int dim, int start, int length) -> Tensor", CopyOf,
     Takes::kAll},
    {"aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", CopyOf},
    {"aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", CopyOf},
    {"aten::as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> "
     "Tensor",
     CopyOf},
    {"aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", CopyOf},
    {"aten::split_copy.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", CopyOf},
    {"aten::split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", CopyOf},
    {"aten::_fw_primal(Tensor(a) self, int level) -> Tensor(a)",
     [](Call& n) -> Results { return {n.Arg(size_t{0})}; }, Takes::kAll},
    {"aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", CastNamed<DType::kUInt8>},
    {"aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", CastNamed<DType::kInt8>},
    {"aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", CastNamed<DType::kInt16>},
    {"aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", CastNamed<DType::kInt32>},
    {"aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", CastNamed<DType::kInt64>},
    {"aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor",
     CastNamed<DType::kFloat16>},
    {"aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor",
     CastNamed<DType::kFloat32>},
    {"aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor",
     CastNamed<DType::kFloat64>},
    {"aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
     CumulativeTrapezoid},
    {"aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
     CumulativeTrapezoid},
    {"aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
     Combinations},
    {"aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     Gradient},
    {"aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
     "Tensor[]",
     Gradient},
    {"aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", Gradient},
    {"aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     Gradient},
    {"aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) "
     "-> Tensor[]",
     Gradient},
    {"aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     Gradient},
    {"aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
     "Tensor[]",
     Gradient},
    {"aten::as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? "
     "storage_offset=None) -> Tensor",
     AsStridedScatter},
    {"aten::linalg_vander(Tensor x, *, int? N=None) -> Tensor", Vandermonde},
    {"aten::isreal(Tensor self) -> Tensor", IsReal},
    {"aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
     "Tensor",
     Covariance},
    {"aten::corrcoef(Tensor self) -> Tensor", Covariance},
    {"aten::sum_to_size(Tensor self, int[] size) -> Tensor", SumToSize},
    {"aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", IntegerMatMul},
    {"aten::nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor", NonZeroStatic},
    {"aten::nextafter(Tensor self, Tensor other) -> Tensor", NextAfter},
    {"aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", OneHotOf},
    {"aten::sym_is_contiguous(Tensor self, int memory_format=0) -> bool",
     [](Call& /*n*/) -> Results { return {Argument::Bool(true)}; }, Takes::kAll},
};

}  // namespace

OperatorTable RestOperators() { return kRestOperators; }

}  // namespace relayvm::import::torch
